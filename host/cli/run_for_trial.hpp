// Runs backplane-trial for a trial of a results folder, with the resources that the trial asks for.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/child.hpp"
#include "contract/one_trial.hpp"

namespace backplane {

// As contract/one_trial.hpp, and prints the warnings on standard error.
OneTrial OpenTrialWithWarnings(const std::filesystem::path& out, const std::string& name);

// Runs `backplane-trial ARGUMENTS` with the resources that the trial asks for, and waits for its end. Its output goes to
// stdout.log and stderr.log in `log_dir`, where it writes its status file. Throws std::runtime_error if it was killed because
// it was silent.
ChildExit RunForTrial(const OneTrial& trial, const std::vector<std::string>& arguments, const std::filesystem::path& log_dir);

}  // namespace backplane
