// The trial process: `backplane-trial run-trial trial.json`. It loads the plugins.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "trial/check_trials.hpp"

namespace backplane {

// What to do with it: run it, unless one of these is said.
struct TrialTask {
  bool check = false;  // check_trials.hpp; the only task that takes several trials
  std::filesystem::path
      film;              // play one evaluation episode with what the checkpoint holds, and write its pictures here (film.hpp)
  uint64_t episode = 0;  // of an evaluation, for the film
};

// Does the task and returns its exit code (TrialExit). Only running trains and writes the trial's record. Ends threads and
// plugins properly only on paper: the caller leaves with _exit. `specs` is not empty; `trial_json` is the first one's file.
int RunTrial(std::vector<TrialSpec> specs, const std::filesystem::path& trial_json, const TrialTask& task);

}  // namespace backplane
