// Starts a trial from its own last checkpoint or from another trial's.
#pragma once

#include <stdexcept>

#include "trial/collecting_set.hpp"
#include "trial/warnings.hpp"

namespace backplane {

// The checkpoint is whole, but a plugin or the loop rejects it. The loop and the plugins may have loaded a part of it and are
// unusable.
class CheckpointRefused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// False: the trial has no checkpoint. Warns of a lost best checkpoint. Throws TrialFailure and CheckpointRefused.
bool Resume(const LoopParts& parts, LoopState* state, CollectingSet* collecting, WarningList* warnings);
// Loads only the learner's state, from the stage before or a kept policy. Rows, seeds and counters start as in a new trial.
// Throws TrialFailure.
void StartLearnerFrom(const StartFrom& from, LearnerInstance& learner, WarningList* warnings);
// The same for spec.start_from, with its time in a phase.
void StartFromOther(const LoopParts& parts, WarningList* warnings);

}  // namespace backplane
