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

// A percentage becomes a number of bytes: of the smallest GPU, or of the trial's share of one. A trial with resources.gpus 0
// has no limit. Throws std::runtime_error if a trial was granted a GPU but none of known memory is there.
void ResolveDeviceMemory(const std::vector<Gpu>& gpus, ResourceConfig* resources);

// Resolves the limit and writes it to the environment, so no other thread may read that. Call before LibTorch is loaded and
// processes of the trial start. Uses the smallest of several GPUs. Does nothing without a limit, and without a GPU if the task
// does not train: policies also play on other machines. Throws as above. [main thread]
void LimitGpuMemory(bool trains, ResourceConfig* resources);

}  // namespace backplane
