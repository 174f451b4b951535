// Shared code of commands that run one trial of a results folder again.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/child.hpp"
#include "contract/trial_spec.hpp"
#include "store/out_folder.hpp"

namespace backplane {

struct OneTrial {
  std::string id;
  std::string name;  // as the plan calls it, or the id
  TrialFolder folder;
  TrialSpec spec;
};

// Returns the trial with this name or start of an id; without a name, the only trial. Warns on standard error about changed
// plugin files. Throws std::runtime_error if there is none, more than one, or one that never started.
OneTrial OpenTrial(const std::filesystem::path& out, const std::string& name);

// Runs `backplane-trial ARGUMENTS` with the resources that the trial asks for, and waits for its end. Its output goes to
// stdout.log and stderr.log in `log_dir`, where it writes its status file. Throws std::runtime_error if it was killed because
// it was silent.
ChildExit RunForTrial(const OneTrial& trial, const std::vector<std::string>& arguments, const std::filesystem::path& log_dir);

}  // namespace backplane
