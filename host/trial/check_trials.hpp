// `backplane-trial run-trial --check`: checks that the plugins of trials accept their options and fit together.
#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "contract/trial_check.hpp"
#include "contract/trial_spec.hpp"

namespace backplane {

// Loads and creates all parts of each trial, one after the other, and destroys them; trains and records nothing. Tries new
// plugin files first (new_plugins.hpp). A trial with a plugin that breaks a rule fails before it loads a plugin. Prints a
// TrialCheck for each to standard output and errors to standard error. Returns the first failure's exit code (TrialExit).
// `folder`: place of their files.
int CheckTrials(const std::vector<TrialSpec>& specs, const std::filesystem::path& folder, const std::atomic<bool>& cancelled);

}  // namespace backplane
