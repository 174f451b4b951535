// How much memory there is for all trials together.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace backplane {

// Bytes: the machine's memory, or the smallest limit of the control groups (v1 and v2) that hold this process if that is less.
// Absent if the kernel does not tell.
std::optional<uint64_t> MachineMemory(const std::filesystem::path& proc = "/proc");

}  // namespace backplane
