// A trial's state at the start of an iteration, in one file that is replaced by rename.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace backplane {

struct Checkpoint {
  nlohmann::json meta;                                  // counters, windows, versions
  std::map<std::string, std::vector<std::byte>> blobs;  // "learner", "env", "states", "rows"
};

inline constexpr char kCheckpointFile[] = "checkpoint.bin";

// Writes dir/checkpoint.bin: temporary name, fsync, rename, fsync of the folder. Throws std::runtime_error.
void WriteCheckpoint(const std::filesystem::path& dir, const Checkpoint& checkpoint);
// Empty if there is none. Throws std::runtime_error for a file that is not a whole checkpoint.
std::optional<Checkpoint> ReadCheckpoint(const std::filesystem::path& dir);

}  // namespace backplane
