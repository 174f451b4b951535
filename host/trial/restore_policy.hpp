// The policy that a trial has or had, for tasks that play it without training.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "contract/trial_spec.hpp"
#include "rollout/instance.hpp"
#include "trial/warnings.hpp"

namespace backplane {

// Loads the checkpoint `name` of `dir`, the folder of the trial's checkpoints in its results folder; "start": the policy before
// the first iteration. Returns its iterations. Absent: the learner keeps no state and learns nothing, so it plays as it is.
// Throws TrialFailure or CheckpointError. [control]
std::optional<uint64_t> RestorePolicy(const TrialSpec& spec, const std::filesystem::path& dir, const std::string& name,
                                      LearnerInstance& learner, WarningList* warnings);

}  // namespace backplane
