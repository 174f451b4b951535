// The files of a trial's checkpoints: checkpoint.bin, and those before it as checkpoint.1.bin and so on.
#pragma once

#include <filesystem>

namespace backplane {

inline constexpr char kCheckpointFile[] = "checkpoint.bin";
inline constexpr unsigned kKeptCheckpoints = 2;

// Number 0 is the newest one.
std::filesystem::path CheckpointFile(const std::filesystem::path& dir, unsigned number);
bool IsCheckpointFile(const std::filesystem::path& file);  // it is a regular file
// Whether a trial can resume here: a checkpoint exists, whole or damaged. Drafts of a killed write do not count.
bool HasCheckpoint(const std::filesystem::path& dir);

}  // namespace backplane
