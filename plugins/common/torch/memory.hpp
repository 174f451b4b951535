// The device's memory as functions of a part, for a plugin that is not linked to LibTorch.
#pragma once

#include "torch/budget.hpp"
#include "torch/device.hpp"

namespace backplane::torch_common {

struct Memory {
  void (*meter_cpu)();  // call it before the first tensor
  bp_device_use (*use)(bp_device device);
  void (*reset_peak)(bp_device device);
  bool (*limit)(bp_device device, uint64_t bytes);
};

// Only in a part, which is linked to LibTorch.
inline constexpr Memory MemoryOfPart() { return {MeterCpuMemory, DeviceUse, ResetPeak, LimitMemory}; }

}  // namespace backplane::torch_common
