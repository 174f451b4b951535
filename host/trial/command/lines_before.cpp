#include "command/lines_before.hpp"

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>

#include "base/files.hpp"
#include "record/attempt_json.hpp"
#include "record/metric_series.hpp"

namespace backplane {

bool DecidesDivergence(std::string_view name) {
  return name == "return" || name == "eval/return" || name == "loss" || name.ends_with("/loss") || name.ends_with("_loss");
}

LinesBefore::LinesBefore(const std::filesystem::path& trial_dir, uint64_t attempt) : trial_dir_(trial_dir) {
  for (uint64_t number = 1; number < attempt; ++number) {
    std::ifstream stream = OpenStream(TrialFolder{trial_dir}.attempt(static_cast<unsigned>(number)).metrics());
    uint64_t bytes = 0;
    bool first = true;
    for (std::string text; std::getline(stream, text) && !stream.eof();) {
      bytes += text.size() + 1;
      const auto read = ReadTolerantly<Iteration>(ParseAttemptJson(text));
      const uint64_t report = read.iteration.value_or(0);
      // The attempt resumed at this report, or started from scratch.
      if (std::exchange(first, false)) std::erase_if(lines_, [&](const Line& line) { return line.report >= report; });
      lines_.push_back({number, report, read.step, read.time.t.value_or(0), bytes});
      for (const MetricValue& one : MetricSeries(read))
        if (IsOfEpisodes(one.name) || DecidesDivergence(one.name)) lines_.back().kept.emplace_back(one.name, one.value);
    }
  }
}

void LinesBefore::KeepBefore(uint64_t step) {
  const auto lost = std::find_if(lines_.begin(), lines_.end(), [&](const Line& line) { return line.step.value_or(0) >= step; });
  lines_.erase(lost, lines_.end());
}

std::vector<MetricsPart> LinesBefore::Parts() const {
  std::vector<MetricsPart> parts;
  for (size_t i = 0; i < lines_.size(); ++i) {
    const Line& line = lines_[i];
    if (i + 1 < lines_.size() && lines_[i + 1].attempt == line.attempt) continue;
    parts.push_back(ReadMetricsPart(TrialFolder{trial_dir_}.attempt(static_cast<unsigned>(line.attempt)), line.end_bytes));
    parts.back().attempt = line.attempt;
  }
  return parts;
}

}  // namespace backplane
