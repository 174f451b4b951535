// What the trial keeps to go on from: the state in which the current iteration began. Of a group of a data set that is kept
// only if the learner ticks after groups: else what it saves is always the state between two of them.
#pragma once

#include <optional>
#include <string>

#include "trial/collecting_set.hpp"

namespace backplane {

class Checkpointing {
 public:
  Checkpointing(const LoopParts& parts, LoopState& state, CollectingSet& collecting)
      : parts_(parts), state_(state), collecting_(collecting) {}

  // Before what it asks for is collected.
  void BeginIteration(const bp_request& request);
  void NoteTick() { ticks_after_data_ |= state_.iteration.open && !keeps_before_; }
  // The state before the current iteration is there to go back to.
  bool keeps_before() const { return keeps_before_; }

  void Take();  // the state now; nothing of a learner that keeps none
  // Writes what was taken; of a data set the state now, if no iteration has begun since.
  void Save();
  void SaveAtEnd();
  // Call it after a stop outside of a request, for example in an evaluation. Saves the state now, unless an iteration runs or
  // the trial is at its end. If the state cannot be taken, the one taken before is saved.
  void SaveAsStopped();
  // A trial that diverged keeps what it was before: the checkpoint on disk or, without one, the state of the last boundary. If
  // that goes wrong too, the trial still ended because it diverged, in the phase it was in.
  void KeepStateBefore();
  const std::optional<std::string>& path() const { return path_; }  // absent: none was written

 private:
  void Write();

  const LoopParts& parts_;
  LoopState& state_;
  CollectingSet& collecting_;
  Checkpoint taken_;
  bool keeps_before_ = false;      // taken_ is of the current iteration
  bool ticks_after_data_ = false;  // seen once
  std::optional<std::string> path_;
};

}  // namespace backplane
