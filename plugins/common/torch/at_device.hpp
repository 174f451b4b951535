// The host's devices and tensors as LibTorch's.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>

#include "backplane/tensor.h"

namespace backplane::torch_common {

inline c10::Device DeviceOf(bp_device device) {
  return device.type == BP_DEVICE_CUDA ? c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(device.id))
                                       : c10::Device(c10::kCPU);
}

// The host's memory as a tensor on its device, without copying.
inline at::Tensor Borrow(const bp_tensor& tensor) {
  const at::ScalarType type = tensor.dtype.code == BP_DTYPE_FLOAT  ? at::kFloat
                              : tensor.dtype.code == BP_DTYPE_UINT ? at::kByte
                              : tensor.dtype.bits == 8             ? at::kChar
                              : tensor.dtype.bits == 64            ? at::kLong
                                                                   : at::kInt;
  const at::Device device = DeviceOf(tensor.device);
  return at::from_blob(tensor.data, at::IntArrayRef(tensor.shape, tensor.ndim), at::IntArrayRef(tensor.strides, tensor.ndim),
                       nullptr, at::TensorOptions(type).device(device), device);
}

}  // namespace backplane::torch_common
