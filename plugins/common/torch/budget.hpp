// Makes the CPU behave like a device of a given size: counts all tensors' memory and throws c10::OutOfMemoryError above the
// limit. Needs no LibTorch headers.
//
// One per process, like LibTorch's allocator. The library that contains this code is never unloaded (link it with -z nodelete),
// because tensors keep the address of its deleter.
#pragma once

#include <cstdint>

namespace backplane::torch_common {

struct MemoryUse {
  uint64_t live_bytes, peak_bytes;  // peak: since the last ResetPeak
};

// Call it before the first tensor; repeating is harmless. Earlier tensors are not counted. [any]
void MeterCpuMemory();
void LimitCpuMemory(uint64_t bytes);  // 0: no limit. [any]
MemoryUse CpuMemory();                // [any]
void ResetCpuPeak();                  // sets the peak to live_bytes. [any]

}  // namespace backplane::torch_common
