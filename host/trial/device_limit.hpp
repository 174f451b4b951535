// Applies resources.device_memory to a trial with a GPU. The allocators of LibTorch, PyTorch and JAX read a process's share of
// a device from the environment, once. Beyond it, LibTorch's throws c10::OutOfMemoryError, as on a full device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "contract/experiment.hpp"
#include "machine/gpus.hpp"

namespace backplane {

// Adds a share of the device to the user's settings of LibTorch's allocator. A share in `given` takes precedence.
std::string AllocatorSettings(const std::string& given, double share);

// A percentage becomes a number of bytes: of the smallest GPU, or of the trial's share of one. Without a GPU there is no limit.
void ResolveDeviceMemory(const std::vector<Gpu>& gpus, ResourceConfig* resources);

// Resolves the limit and writes it to the environment, so no other thread may read that. Call before LibTorch is loaded and
// processes of the trial start. Does nothing without a limit or a GPU; uses the smallest of several GPUs. [main thread]
void LimitGpuMemory(ResourceConfig* resources);

}  // namespace backplane
