// Starts backplane-trial for a task that leaves the trial's record as it is.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace backplane {

// Runs `backplane-trial run-trial TRIAL_JSON ARGUMENTS` to its end; it ends itself when it hangs. Throws std::runtime_error
// with its last words if it fails.
void RunTrialProcess(const std::filesystem::path& trial_json, const std::vector<std::string>& arguments);

}  // namespace backplane
