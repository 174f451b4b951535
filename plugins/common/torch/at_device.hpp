// The host's name of a device as LibTorch's.
#pragma once

#include <c10/core/Device.h>

#include "backplane/tensor.h"

namespace backplane::torch_common {

inline c10::Device DeviceOf(bp_device device) {
  return device.type == BP_DEVICE_CUDA ? c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(device.id))
                                       : c10::Device(c10::kCPU);
}

}  // namespace backplane::torch_common
