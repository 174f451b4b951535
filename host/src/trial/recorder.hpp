// What a trial writes of itself: metrics.jsonl, one object per iteration, and result.json at the end.
#pragma once

#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "rollout/evaluator.hpp"
#include "rollout/phases.hpp"
#include "rollout/rows.hpp"

namespace backplane {

// {"mean", "sd", "se", "n"}; sd is the sample standard deviation and se the standard error of the mean, both null for n < 2;
// mean is null for n = 0.
nlohmann::json Summarise(const std::vector<double>& values);
nlohmann::json ToJson(const EvaluationResult& result);

// The last 100 episodes, in the order (t, row) in which they ended.
class EpisodeWindow {
 public:
  void Add(const std::vector<Episode>& episodes, const std::vector<std::string>& info_names);
  uint64_t total() const { return total_; }
  double mean_return() const;      // NaN when empty
  nlohmann::json Returns() const;  // as Summarise
  nlohmann::json Metrics() const;  // by name
  nlohmann::json Save() const;
  void Load(const nlohmann::json& json);

 private:
  struct Item {
    double episode_return, length;
    std::vector<double> infos;
  };
  std::deque<Item> items_;
  std::vector<std::string> names_;
  uint64_t total_ = 0;
};

// Appends lines, each flushed, so that what was measured survives whatever comes next.
class MetricsFile {
 public:
  explicit MetricsFile(const std::filesystem::path& file);  // throws std::runtime_error
  void Append(const nlohmann::json& line);

 private:
  std::ofstream out_;
};

// Shares of (threads x wall time); clocks[0] is the control thread's. All threads of the trial count, whether they collect or
// only share the learner's work, and are idle while they wait for work of either kind. The shares and "unnamed_share", what the
// control thread spent in no phase, sum to 1.
nlohmann::json PhaseTable(const std::vector<PhaseClock>& clocks, int64_t wall_ns);

}  // namespace backplane
