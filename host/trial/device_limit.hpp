// Applies resources.device_memory to a trial with a GPU. LibTorch's allocator reads a process's share of a device from the
// environment, once. Beyond it, allocations throw c10::OutOfMemoryError, as on a full device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace backplane {

// Adds a share of `bytes` in `device_bytes`, at most 1, to the user's settings of LibTorch's allocator. A share in `given`
// takes precedence.
std::string AllocatorSettings(const std::string& given, uint64_t bytes, uint64_t device_bytes);

// Call before LibTorch is loaded. Does nothing without a limit or a GPU; uses the smallest of several GPUs. Writes to the
// environment, so no other thread may read it. [main thread]
void LimitGpuMemory(const std::optional<uint64_t>& bytes);

}  // namespace backplane
