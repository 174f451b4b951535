// The trial loop: asks the learner for its next request, serves it, and ends with the budget. Other classes collect, record,
// evaluate and save; the loop calls them.
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

  // Runs to the budget's end, to DONE or until cancelled. Throws TrialFailure; the records so far stay. Throws
  // CheckpointRefused before the first record.
  void Run();
  bool stopped_early() const { return stopped_; }
  bool pruned() const { return pruned_; }  // the supervisor stopped it early
  // The loop's fields of result.json; also valid after a failure.
  LoopResult Result() const;
  // The times among them that monitors may still change after the loop.
  MeasuredTimes Measured() const;
  // Brings metrics.jsonl and fingerprints.bin to the disk. Throws std::runtime_error.
  void SyncFiles() { state_.SyncFiles(); }
  const std::optional<EndedBy>& ended_by() const { return ended_by_; }                // absent: no monitor ended the trial
  const std::vector<std::string>& warnings() const { return warnings_.sentences(); }  // for the user
  void Warn(const std::string& sentence) { warnings_.Add(sentence); }

 private:
  void Begin();
  void RunRequests();
  void End();
  void StopClock();
  bool IsPruned() const;
  bool EndedByMonitor();
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
  CheckpointDue checkpoint_due_;
  bool stopped_ = false, pruned_ = false;
  std::optional<EndedBy> ended_by_;
};

}  // namespace backplane
