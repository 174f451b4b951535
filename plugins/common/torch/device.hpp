// Memory of a learner's device: for the CPU as counted by budget.hpp, for a GPU from LibTorch's allocator. Needs no LibTorch
// headers.
#pragma once

#include <cstdint>

#include "backplane/ext/device_use.h"

namespace backplane::torch_common {

// LibTorch is built for CUDA and sees a GPU: device 0 is the first granted one. [any]
bool HasCuda();

// For a GPU, call it only after its first tensor. [any]
bp_device_use DeviceUse(bp_device device);
void ResetPeak(bp_device device);

// Allocations above `bytes` (0: no limit) throw c10::OutOfMemoryError. The host must set a GPU's limit before LibTorch is
// loaded, because its allocator reads it once: returns false if it has not. [any]
bool LimitMemory(bp_device device, uint64_t bytes);

// Frees unused memory cached by a GPU's allocator; the CPU has no cache. [any]
void EmptyCache(bp_device device);

}  // namespace backplane::torch_common
