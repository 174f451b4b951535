// Starts a learner from the policy that `learner.start_from` names, of which the results folder keeps a copy.
#pragma once

#include <string>
#include <vector>

#include "record/trial_file.hpp"
#include "rollout/instance.hpp"

namespace backplane {

// Loads the policy into a learner that has just been created. Seeds and counters stay its own. Returns warnings for the user.
// Throws TrialFailure: BP_E_CONFIG with place, expected and got if the policy does not fit. [control]
std::vector<std::string> StartFromKept(const StartFrom& from, LearnerInstance& learner);

}  // namespace backplane
