// The trial process: `backplane run-trial trial.json`. The only place that loads plugins.
#pragma once

#include <filesystem>

namespace backplane {

// Runs the trial and returns its exit code (TrialExit). With `check_only` it loads and creates everything, says on stderr what
// does not fit, writes nothing and trains nothing. Ends threads and plugins properly only on paper: the caller leaves with
// _exit.
int RunTrial(const std::filesystem::path& trial_json, bool check_only);

}  // namespace backplane
