// The trial loop: asks the learner what it needs, does it, delivers. Budgets, checkpoints, evaluation, records and cancelling
// stand here once, for every learner.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "data/data_loader.hpp"
#include "record/long_ticks.hpp"
#include "rollout/candidate_scorer.hpp"
#include "rollout/collector.hpp"
#include "rollout/evaluator.hpp"
#include "store/metric_series.hpp"
#include "trial/budget.hpp"
#include "trial/checkpoint_folder.hpp"
#include "trial/contract.hpp"
#include "trial/measuring.hpp"
#include "trial/metrics.hpp"
#include "trial/monitors.hpp"
#include "trial/phase_events.hpp"
#include "trial/recorder.hpp"
#include "trial/status.hpp"
#include "trial/threads.hpp"

namespace backplane {

// What the loop works with; all of it outlives the loop.
struct LoopParts {
  const TrialSpec& spec;
  EnvInstance& env;
  LearnerInstance& learner;
  EnvInstance* evaluation_env;  // with evaluation.episodes rows; NULL: no evaluation
  MonitorHost& monitors;
  MetricsHub& metrics;
  StatusWriter& status;
  const std::atomic<bool>& cancelled;
  TrialThreads& threads;
  CheckpointFolder& checkpoints;
  uint64_t chunk_rows;
};

// The checkpoint that the trial would go on from is whole, and a plugin or the loop has no use for it. The loop and the plugins
// may have taken over a part of it and are good for nothing more.
class CheckpointRefused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class TrialLoop {
 public:
  explicit TrialLoop(LoopParts parts);

  // Runs to the budget's end, to DONE or until cancelled. Throws TrialFailure; what was recorded stays. Throws
  // CheckpointRefused before anything was recorded.
  void Run();
  bool stopped_early() const { return stopped_; }
  // The fields of result.json that come from the loop; may be asked for after a failure too.
  nlohmann::json Result() const;
  // Those of them to which monitors may still add when the loop has ended.
  void AddMeasured(nlohmann::json* result) const;
  // What stands in metrics.jsonl is on the disk afterwards. Throws std::runtime_error.
  void SyncMetrics() { metrics_file_.Sync(); }
  const std::vector<std::string>& warnings() const { return warnings_; }  // sentences for the user

 private:
  bool Resume();  // false: there is no checkpoint of its own
  void GoOnFrom(const Checkpoint& checkpoint);
  void RestoreRows(const Checkpoint& checkpoint);
  void StartFromOther();
  void RunRequests();
  bool StartCollecting(const bp_request& request);
  void CheckCollecting(const bp_request& request) const;
  void CloseIteration();
  void CountIteration();
  // The next iteration to end, or the one that runs, is number 0, which warms up.
  bool WarmsUp() const { return parts_.spec.experiment.report.MeasuresSpeed() && !warm_up_; }
  uint64_t OpenIteration() const { return WarmsUp() ? 0 : iterations_ + 1; }
  void EndWarmUp();
  void AddSpeed(double seconds);
  void TakeMachine();
  void WriteLine();
  void Rollout(const bp_request& request);
  void Candidates(const bp_request& request);
  CandidateScorer& Scorer();
  void RecordUse(const PoolUse& use);
  void RecordEpisodes(const std::vector<Episode>& episodes, const std::vector<std::string>& info_names);
  void Data(const bp_request& request);
  DataLoader& Feed();
  void RecordFeed();
  bp_limits LimitsNow();
  void Tick(const bp_request& request);
  bool EndsBetweenTicks();
  void Consume(const bp_delivery& delivery);
  Evaluator& OwnEvaluator();
  void Evaluate();
  void EvaluateAtStart(const bp_request& request);  // the request that comes first
  void EvaluateAtEnd();
  void TakeBoundaryState();
  void SaveCheckpoint();
  void SaveAtEnd();
  void WriteBoundaryState();
  void KeepStateBefore();
  Spent SpentNow() const;  // of the budget
  double AttemptSeconds() const { return static_cast<double>(NowNs() - start_ns_) * 1e-9; }
  double TrialSeconds() const { return seconds_before_ + AttemptSeconds(); }
  int64_t SinceIterationStart() const { return std::max<int64_t>(NowNs() - iteration_start_ns_, 1); }
  int64_t WallNs() const { return (end_ns_ ? end_ns_ : NowNs()) - start_ns_; }
  int64_t ClocksNs() const { return WallNs() - (clocks_start_ns_ - start_ns_); }
  MetricsRecord MetricsSoFar() const;
  void PostEpisodes(const std::vector<Episode>& episodes);
  void ShowLive(const nlohmann::json& line);  // as MetricsFile writes it
  void AddLiveOfGpu(std::vector<MetricValue>* values);
  void Warn(const std::string& sentence);  // in the log, the status and the result
  void WarnOfLiveNames(const nlohmann::json& line);

  LoopParts parts_;
  std::vector<PhaseClock>& clocks_;
  PhaseEvents phase_events_;
  Collector collector_;
  std::unique_ptr<CandidateScorer> scorer_;  // from the first EVALUATE request on
  bool scorer_has_env_ = false;              // the env is bound to it and not to the collector
  const int32_t balance_metric_, wall_eff_metric_;
  PoolUse use_sum_;  // over the collecting requests so far
  uint64_t collected_ = 0;
  EpisodeWindow window_;
  MetricsFile metrics_file_;
  std::vector<MetricsPart> metrics_before_;  // of the attempts that this one goes on from
  std::unique_ptr<DataLoader> feed_;         // from the first DATA request on
  int32_t epoch_metric_ = -1, micro_batch_metric_ = -1, oom_metric_ = -1, first_oom_metric_ = -1;
  int32_t device_live_metric_ = -1, device_peak_metric_ = -1, device_reserved_metric_ = -1;  // where the learner tells
  size_t shrinks_told_ = 0;
  std::unique_ptr<Evaluator> evaluator_;
  std::optional<uint64_t> evaluated_at_;  // iterations before the last evaluation
  nlohmann::json evaluation_, floor_zero_, floor_uniform_, checkpoint_path_;

  int64_t start_ns_ = 0, end_ns_ = 0;
  double seconds_before_ = 0;      // of earlier attempts, for the wall-time budget
  uint64_t iterations_ = 0;        // without the one that warms up
  uint64_t env_steps_ = 0;         // with its steps
  std::optional<WarmUp> warm_up_;  // since it has ended
  int64_t clocks_start_ns_ = 0;    // what the clocks tell of begins here
  double gpu_memory_pct_ = 0;      // the most so far
  std::vector<LongTicks> long_ticks_;
  int64_t should_end_since_ns_ = 0;  // seen between two ticks; 0: it should not
  bool open_ = false, stopped_ = false, looked_for_live_ = false;
  std::vector<std::string> warnings_;
  int64_t iteration_start_ns_ = 0, iteration_end_ns_ = 0, collect_ns_ = 0;
  uint64_t iteration_steps_ = 0;
  Measuring measuring_;
  // Sums without this attempt's first iteration, which warms up (of that one while there is no other), for SPS.
  bool warm_ = false;
  double steady_s_ = 0, steady_collect_s_ = 0, first_s_ = 0, first_collect_s_ = 0;
  uint64_t steady_steps_ = 0, first_steps_ = 0;
  // The line of an iteration that is counted and not written yet, as its evaluation runs; else null.
  nlohmann::json unwritten_;
  // The state in which the current iteration began. Of a group of a data set it is kept only if the learner ticks after such:
  // else what it saves is always the state between two groups.
  Checkpoint boundary_;
  bool keeps_before_ = false;      // boundary_ is of the current iteration
  bool ticks_after_data_ = false;  // seen once
  bool begun_ = false;             // the iteration has changed what would be saved now: boundary_ is what there is to keep
};

}  // namespace backplane
