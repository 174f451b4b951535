// Finds a trial of a results folder by its name, for commands that run it again.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "contract/trial_spec.hpp"
#include "record/results_folder.hpp"

namespace backplane {

struct OneTrial {
  std::string id;
  std::string name;  // as the plan calls it, or the id
  TrialFolder folder;
  TrialSpec spec;
  std::vector<std::string> warnings;  // plugin files that have changed since
};

// Returns the trial with this name or start of an id; without a name, the only trial. Throws std::runtime_error if there is
// none, more than one, or one that never started.
OneTrial OpenTrial(const std::filesystem::path& out, const std::string& name);
// The trials with these names, of points or trials, each once; without names, all of the plan. Throws as OpenTrial, but accepts
// a name of several trials.
std::vector<OneTrial> OpenTrials(const std::filesystem::path& out, const std::vector<std::string>& names);

}  // namespace backplane
