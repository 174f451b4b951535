// The lines of metrics.jsonl that earlier attempts of a trial by command left. What a command goes on from is its own to know:
// the step of its first report tells which of them still count.
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

// A metric whose end decides whether the trial diverged: a return, or a loss by its name. The names are fixed, so that no
// setting outside a trial's identity changes its outcome.
bool DecidesDivergence(std::string_view name);

class LinesBefore {
 public:
  // Of the attempts before number `attempt` of the trial that has this folder, those that it goes on from.
  LinesBefore(const std::filesystem::path& trial_dir, uint64_t attempt);

  // A report of this step is new: what was said of it or of later ones was lost with the attempt that said so.
  void KeepBefore(uint64_t step);

  uint64_t reports() const { return lines_.empty() ? 0 : lines_.back().report; }
  std::optional<uint64_t> step() const { return lines_.empty() ? std::nullopt : lines_.back().step; }
  double trial_s() const { return lines_.empty() ? 0 : lines_.back().trial_s; }
  std::vector<MetricsPart> Parts() const;
  // Calls `use` with the values whose end matters, in their order: IsOfEpisodes, DecidesDivergence.
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
    uint64_t end_bytes = 0;  // of its file
    std::vector<std::pair<std::string, double>> kept = {};
  };

  const std::filesystem::path trial_dir_;
  std::vector<Line> lines_;
};

}  // namespace backplane
