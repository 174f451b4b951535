// The trial loop: asks the learner what it needs, has it done, and ends with the budget. What an iteration collects, records,
// evaluates and keeps has objects of its own; the loop says when.
#pragma once

#include <string>
#include <vector>

#include "trial/evaluation.hpp"
#include "trial/reporting.hpp"
#include "trial/resume.hpp"
#include "trial/speed.hpp"
#include "trial/ticks.hpp"

namespace backplane {

class TrialLoop {
 public:
  explicit TrialLoop(const LoopParts& parts);
  TrialLoop(const TrialLoop&) = delete;

  // Runs to the budget's end, to DONE or until cancelled. Throws TrialFailure; what was recorded stays. Throws
  // CheckpointRefused before anything was recorded.
  void Run();
  bool stopped_early() const { return stopped_; }
  bool pruned() const { return pruned_; }  // the supervisor wanted no more of it
  // The fields of result.json that come from the loop; may be asked for after a failure too.
  LoopResult Result() const;
  // Those of them to which monitors may still add when the loop has ended.
  MeasuredTimes Measured() const;
  // What stands in metrics.jsonl and fingerprints.bin is on the disk afterwards. Throws std::runtime_error.
  void SyncFiles() { state_.SyncFiles(); }
  const std::vector<std::string>& warnings() const { return warnings_.sentences(); }  // for the user
  void Warn(const std::string& sentence) { warnings_.Add(sentence); }

 private:
  void Begin();
  void RunRequests();
  void End();
  void StopClock();
  bool IsPruned() const;
  bool StartIteration(const bp_request& request);
  bool Collect(const bp_request& request);
  void CloseIteration();
  void CountIteration();
  void EndWarmUp();
  void EvaluateAtStart(const bp_request& request);
  bp_limits LimitsNow() const;
  Spent SpentNow() const;

  const LoopParts parts_;
  LoopState state_;
  WarningList warnings_;
  Reporting reporting_;
  CollectingSet collecting_;
  Checkpointing checkpointing_;
  Ticks ticks_;
  TrialEvaluation evaluation_;
  TrialSpeed speed_;
  bool stopped_ = false, pruned_ = false;
};

}  // namespace backplane
