// `backplane-trial run-trial --check`: whether the plugins of trials take their options and fit together.
#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "contract/trial_check.hpp"
#include "contract/trial_spec.hpp"

namespace backplane {

// Loads and creates everything that each of them would, one after the other, and destroys it; trains and records nothing.
// New plugin files are tried first (new_plugins.hpp). A trial with one that breaks a rule fails before it loads a plugin.
// Prints a TrialCheck for each to standard output and what does not fit to standard error. Returns the first failure's exit
// code (TrialExit). `folder`: where their files lie.
int CheckTrials(const std::vector<TrialSpec>& specs, const std::filesystem::path& folder, const std::atomic<bool>& cancelled);

}  // namespace backplane
