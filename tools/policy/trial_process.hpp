// Starts backplane-trial for a task that leaves the trial's record as it is.
#pragma once

#include <string>
#include <vector>

#include "contract/one_trial.hpp"

namespace backplane {

// Runs `backplane-trial run-trial ARGUMENTS` to its end; it ends itself when it hangs. Throws std::runtime_error with its last
// words if it fails.
void RunTrialProcess(const OneTrial& trial, std::vector<std::string> arguments);

}  // namespace backplane
