// The learner's part of a checkpoint, through "bp.learner.state/1".
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "backplane/ext/state.h"
#include "rollout/instance.hpp"

namespace backplane {

// NULL: the learner keeps no state.
const bp_learner_state_1* StateOf(const LearnerInstance& learner);

// Both throw TrialFailure where the learner complains. [control]
std::vector<std::byte> SaveLearner(const bp_learner_state_1& state, LearnerInstance& learner);
void LoadLearner(const bp_learner_state_1& state, LearnerInstance& learner, const std::vector<std::byte>& saved);

// Of a trial that starts from another: the learner's own state, or why there can be none. Throws TrialFailure.
const bp_learner_state_1& NeedState(const LearnerInstance& learner);
// The learner gets what the other trial's saved. Throws TrialFailure, also where it does not fit. [control]
void StartLearner(LearnerInstance& learner, const std::vector<std::byte>& saved, const std::string& other_trial);

}  // namespace backplane
