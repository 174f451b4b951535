// Reads a checkpoint of a trial by its name (contract/checkpoint_files.hpp).
#pragma once

#include <filesystem>
#include <string>

#include "trial/checkpoint.hpp"

namespace backplane {

// The checkpoint called `name` in `dir`, the folder of a trial's checkpoints. Throws CheckpointError: there is none of that
// name (the sentence lists those that exist), or it is damaged or of a different trial.
Checkpoint ReadNamedCheckpoint(const std::filesystem::path& dir, const std::string& trial_id, const std::string& name);

}  // namespace backplane
