// Keeps the state at the start of the current iteration for a resume. With a data set, this state is only kept if the learner
// ticks after groups; otherwise the saved state is always between two groups. A large state (BP_LEARNER_STATE_LARGE) is never
// kept: it is saved when it is written, between two iterations. Within one, only the checkpoint on disk exists.
#pragma once

#include <optional>
#include <string>

#include "trial/collecting_set.hpp"

namespace backplane {

class Checkpointing {
 public:
  Checkpointing(const LoopParts& parts, LoopState& state, CollectingSet& collecting)
      : parts_(parts), state_(state), collecting_(collecting) {}

  // Call before the request's data is collected.
  void BeginIteration(const bp_request& request);
  void NoteTick() { ticks_after_data_ |= state_.iteration.open && !keeps_before_; }
  // True if the state before the current iteration is kept.
  bool keeps_before() const { return keeps_before_; }
  // True if a stopped iteration may be dropped: the next attempt finds an earlier state.
  bool may_drop(bool cancelled) const { return keeps_before_ || (cancelled && parts_.learner.large()); }
  // Writes a checkpoint if `due`, if the evaluation before was the best, or if the next iteration could overwrite bytes of the
  // learner's files that a kept checkpoint needs. Call between two iterations, after BeginIteration.
  void SaveBetween(bool due);

  void Take();  // keeps the current state, unless the learner saves none
  // Writes the kept state; with a data set the current state, if no iteration has begun since. `only_best`: it is written only
  // for the best evaluation, and the next one replaces it.
  void Save(bool only_best = false);
  void SaveAtEnd();
  // After the evaluation at the end, if it is the best.
  void SaveBestAtEnd();
  // Call it after a stop outside of a request, for example in an evaluation. Saves the current state, unless an iteration runs
  // or the trial is at its end. If that fails, saves the state kept before.
  void SaveAsStopped();
  // After divergence, keeps the state before it: the checkpoint on disk or, without one, the state of the last boundary. Errors
  // do not change the end: the trial diverged, in its current phase.
  void KeepStateBefore();
  const std::optional<std::string>& path() const { return path_; }  // absent: none was written

 private:
  void Write(bool only_best = false);
  CheckpointHeader HeaderNow() const;
  void SaveBest();

  const LoopParts& parts_;
  LoopState& state_;
  CollectingSet& collecting_;
  Checkpoint taken_;
  // With taken_.
  LearnerFiles::Mark taken_files_;
  bool keeps_before_ = false;      // taken_ belongs to the current iteration
  bool ticks_after_data_ = false;  // at least once
  std::optional<std::string> path_;
};

}  // namespace backplane
