// Writes a trial's records: metrics.jsonl, one object per iteration, and result.json at the end.
#pragma once

#include <deque>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/line_file.hpp"
#include "record/attempt_files.hpp"
#include "record/checkpoint_header.hpp"
#include "record/iteration.hpp"
#include "record/trial_result.hpp"
#include "rollout/evaluator.hpp"
#include "rollout/phase_clock.hpp"
#include "rollout/rows.hpp"

namespace backplane {

Spread Summarise(const std::vector<double>& values);
EpisodeMeans MeansOf(const EvaluationResult& result);

// The last 100 episodes, in the order (t, row) of their ends.
class EpisodeWindow {
 public:
  void Add(const std::vector<Episode>& episodes, const std::vector<std::string>& info_names);
  uint64_t total() const { return total_; }
  double mean_return() const;  // NaN if empty
  Spread Returns() const;
  std::map<std::string, Spread> Metrics() const;  // by name
  SavedWindow Save() const;
  // Throws CheckpointError if no window of episodes with this number of infos can have saved it.
  void Load(const SavedWindow& saved, size_t infos);

 private:
  std::deque<SavedEpisode> items_;
  std::vector<std::string> names_;
  uint64_t total_ = 0;
};

// metrics.jsonl of an attempt. When Append returns, the operating system has the whole line, so the line survives a crash but
// not a power failure; Sync covers that too. Throws std::runtime_error with the reason, for example a full disk; the file then
// still ends with a whole line.
class MetricsFile {
 public:
  MetricsFile(const std::filesystem::path& file, uint64_t attempt);
  void Append(const Iteration& line);
  void AppendAll(const std::vector<Iteration>& lines);  // with one write, so that a crash loses all of them or none
  void Sync() { file_.Sync(); }
  const MetricsPart& written() const { return written_; }  // the file's content

 private:
  void Count(std::string_view text, uint64_t lines);

  LineFile file_;
  MetricsPart written_;
};

// Shares of (threads x wall time); clocks[0] is the control thread's. Includes all threads of the trial, whether they collect
// or only share the learner's work; without work they are idle. The shares and "unnamed_share", the control thread's time
// outside of all phases, sum to 1.
PhaseTimes PhaseTable(const std::vector<PhaseClock>& clocks, int64_t wall_ns);

}  // namespace backplane
