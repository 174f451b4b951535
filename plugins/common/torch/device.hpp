// Memory of the device that a learner computes on: of the CPU as budget.hpp counts it, of a GPU as LibTorch's allocator does.
// Without LibTorch's headers.
#pragma once

#include <cstdint>

#include "backplane/ext/device_use.h"

namespace backplane::torch_common {

// LibTorch is built for CUDA and sees a GPU: device 0 is the first that was granted. [any]
bool HasCuda();

// Of a GPU only after its first tensor. [any]
bp_device_use DeviceUse(bp_device device);
void ResetPeak(bp_device device);

// What would exceed `bytes` (0: no limit) throws c10::OutOfMemoryError. The limit of a GPU is the host's to set before LibTorch
// is loaded, as its allocator asks for it once: returns false where it has not. [any]
bool LimitMemory(bp_device device, uint64_t bytes);

// Gives back what a GPU's allocator has taken and no tensor uses; on a CPU nothing is kept. [any]
void EmptyCache(bp_device device);

}  // namespace backplane::torch_common
