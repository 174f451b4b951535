// Makes the CPU behave as a device of a given size: all tensors' memory is counted, and what would exceed the limit throws
// c10::OutOfMemoryError. Without LibTorch's headers.
//
// Once for the whole process, like LibTorch's allocator itself. The library that holds this code is never unloaded (link it
// with -z nodelete): tensors keep the address of its deleter.
#pragma once

#include <cstdint>

namespace backplane::torch_common {

struct MemoryUse {
  uint64_t live_bytes, peak_bytes;  // peak: since the last ResetPeak
};

// Before the first tensor; again harmlessly. Tensors made before are not counted. [any]
void MeterCpuMemory();
void LimitCpuMemory(uint64_t bytes);  // 0: no limit. [any]
MemoryUse CpuMemory();                // [any]
void ResetCpuPeak();                  // the peak is then what is live. [any]

}  // namespace backplane::torch_common
