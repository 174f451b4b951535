// The trial process: `backplane-trial run-trial trial.json`. It loads the plugins.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "contract/checkpoint_files.hpp"
#include "trial/check_trials.hpp"

namespace backplane {

// The task: run the trial, unless one of these is set.
struct TrialTask {
  bool check = false;            // check_trials.hpp; the only task that accepts several trials
  std::filesystem::path film;    // play one evaluation episode from the checkpoint, and write its pictures here (film.hpp)
  uint64_t episode = 0;          // number of the evaluation episode for the film
  std::filesystem::path policy;  // write the policy and some of its actions here (policy_record.hpp)
  std::string checkpoint = std::string(kLastCheckpoint);  // of the film or policy, by its name (named_checkpoint.hpp)
  std::filesystem::path evaluate;                         // do this order (record/evaluation_order.hpp)
  std::filesystem::path inspect;                          // also write the rollout of this order (record/moment_order.hpp)

  // The file of a task that only plays; empty: the trial trains and writes its record.
  const std::filesystem::path& playing() const { return !film.empty() ? film : !policy.empty() ? policy : evaluate; }
  bool records() const { return playing().empty(); }
};

// Does the task and returns its exit code (TrialExit). Only a run trains and writes the trial's record. Does not end threads
// and plugins in order, so the caller must exit with _exit. `specs` is not empty; `trial_json` is the first one's file.
int RunTrial(std::vector<TrialSpec> specs, const std::filesystem::path& trial_json, const TrialTask& task);

}  // namespace backplane
