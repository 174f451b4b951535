// The lines of metrics.jsonl from earlier attempts of a trial by command.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "record/attempt_files.hpp"
#include "record/iteration.hpp"
#include "record/metric_series.hpp"

namespace backplane {

// True for a metric whose end decides whether the trial diverged: a return, or a loss by its name. The names are fixed, so that
// no setting outside a trial's identity changes its outcome.
bool DecidesDivergence(std::string_view name);

// The values that a command reported, without those that the host writes in every line.
std::vector<MetricValue> ReportedValues(const Iteration& line);

class LinesBefore {
 public:
  // Reads the lines of attempts before number `attempt` from the trial's folder, without those that later attempts replaced.
  LinesBefore(const std::filesystem::path& trial_dir, uint64_t attempt);

  // The metrics that most lines contain, at different steps. Settings and evaluations, which are reported rarely, are none.
  // Empty: the lines have no metrics.
  const std::set<std::string>& MainMetrics();
  // The first line with a main metric since the steps last started again. Absent: there is none.
  std::optional<Iteration> FirstMainLine();
  // Drops lines of this step and later ones since the steps last started again. False: kept lines follow dropped ones.
  bool KeepBefore(uint64_t step);
  // The same without steps: drops the only line with these values and later ones. If there is none, or several, all lines stay.
  void KeepBeforeRepeated(const std::map<std::string, double>& values);
  // Compares the metrics of a line that have had different values.
  size_t CountEqual(const std::map<std::string, double>& values, const Iteration& line, size_t* compared) const;

  bool empty() const { return lines_.empty(); }
  bool has_steps() const { return !lines_.empty() && lines_.back().step.has_value(); }
  uint64_t reports() const { return lines_.empty() ? 0 : lines_.back().report; }
  std::optional<uint64_t> step() const { return lines_.empty() ? std::nullopt : lines_.back().step; }
  double trial_s() const;
  std::vector<MetricsPart> Parts() const;
  // Calls `use` in order with the values whose end matters: IsOfEpisodes, DecidesDivergence.
  template <class Use>
  void ForEachKept(Use use) const {
    for (const Line& line : lines_)
      for (const auto& [name, value] : line.kept) use(name, value);
  }
  // All lines in the order of their steps, read from the files.
  std::vector<Iteration> InOrderOfSteps() const;

 private:
  struct Line {
    uint64_t attempt = 0, report = 0;
    std::optional<uint64_t> step;
    double trial_s = 0;
    uint64_t begin_bytes = 0, end_bytes = 0;  // in its file
    std::vector<std::pair<std::string, double>> kept = {};
  };
  struct Use {
    uint64_t lines = 0;
    std::optional<uint64_t> last_step;
    double first = 0;
    bool moves = false, varies = false;  // has different steps (or several lines without one), different values
  };

  void ReadAttempt(uint64_t number);
  void Count(const Iteration& line);
  bool Varies(const std::string& name) const { return uses_.contains(name) && uses_.at(name).varies; }
  Iteration Read(const Line& line) const;

  const std::filesystem::path trial_dir_;
  std::vector<Line> lines_;
  size_t part_ = 0;  // index of the line with which the steps last started again
  std::map<std::string, Use> uses_;
  std::optional<std::set<std::string>> main_;
};

}  // namespace backplane
