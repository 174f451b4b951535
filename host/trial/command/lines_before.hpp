// The lines of metrics.jsonl from earlier attempts of a trial by command. The command alone chooses the point where it resumes;
// the step of its first report decides which lines still count.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "record/attempt_files.hpp"

namespace backplane {

// True for a metric whose end decides whether the trial diverged: a return, or a loss by its name. The names are fixed, so that
// no setting outside a trial's identity changes its outcome.
bool DecidesDivergence(std::string_view name);

class LinesBefore {
 public:
  // Reads the lines of attempts before number `attempt` from the trial's folder, without those that later attempts replaced.
  LinesBefore(const std::filesystem::path& trial_dir, uint64_t attempt);

  // Drops lines of this step and later ones, because a new report of this step replaces them.
  void KeepBefore(uint64_t step);

  uint64_t reports() const { return lines_.empty() ? 0 : lines_.back().report; }
  std::optional<uint64_t> step() const { return lines_.empty() ? std::nullopt : lines_.back().step; }
  double trial_s() const { return lines_.empty() ? 0 : lines_.back().trial_s; }
  std::vector<MetricsPart> Parts() const;
  // Calls `use` in order with the values whose end matters: IsOfEpisodes, DecidesDivergence.
  template <class Use>
  void ForEachKept(Use use) const {
    for (const Line& line : lines_)
      for (const auto& [name, value] : line.kept) use(name, value);
  }

 private:
  struct Line {
    uint64_t attempt = 0, report = 0;
    std::optional<uint64_t> step;
    double trial_s = 0;
    uint64_t end_bytes = 0;  // in its file
    std::vector<std::pair<std::string, double>> kept = {};
  };

  const std::filesystem::path trial_dir_;
  std::vector<Line> lines_;
};

}  // namespace backplane
