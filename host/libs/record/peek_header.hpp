// Reads only the header of a checkpoint, to choose among several. The trial's process checks the whole file.
#pragma once

#include <filesystem>
#include <optional>

#include "record/checkpoint_header.hpp"

namespace backplane {

// Checks no checksum. Absent: the file cannot be read, or has no complete header.
std::optional<CheckpointHeader> PeekHeader(const std::filesystem::path& file);

}  // namespace backplane
