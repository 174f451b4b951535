// resources.device_memory of a trial that was granted a GPU. LibTorch's allocator reads from the environment, once, which share
// of a device a process may take; what exceeds it throws c10::OutOfMemoryError as on a device that is full.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace backplane {

// The settings of LibTorch's allocator with those that the user has given: a share of `bytes` in `device_bytes`, and at most
// all of it. What the user says of the share stays.
std::string AllocatorSettings(const std::string& given, uint64_t bytes, uint64_t device_bytes);

// Before LibTorch is loaded. Does nothing without a limit or without a GPU; of several GPUs the smallest one counts. Writes to
// the environment: no other thread may read it. [main thread]
void LimitGpuMemory(const std::optional<uint64_t>& bytes);

}  // namespace backplane
