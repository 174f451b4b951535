// The networks as LibTorch computes them, over the flat parameter buffer.
#pragma once

#include <ATen/ATen.h>

#include <functional>

#include "backplane/tensor.h"
#include "net.hpp"
#include "torch/at_device.hpp"

namespace backplane::mappo {

// A part of the flat buffer as a tensor.
using Part = std::function<at::Tensor(int64_t offset, at::IntArrayRef shape)>;

inline at::Tensor TorchLayer(const nn::Layer& layer, const at::Tensor& x, const Part& part) {
  return at::addmm(part(layer.bias, {layer.out}), x, part(layer.weight, {layer.in, layer.out}));
}

// [n, inputs] -> [n, head.out], float32 also under autocast.
inline at::Tensor TorchTower(const Tower& tower, at::Tensor x, const Part& part) {
  const auto active = [&](const at::Tensor& y) { return tower.activation == Activation::kTanh ? y.tanh() : y.relu(); };
  x = active(TorchLayer(tower.input, x, part));
  for (const nn::Layer& layer : tower.trunk) x = active(TorchLayer(layer, x, part));
  return TorchLayer(tower.head, x, part).to(at::kFloat);
}

using torch_common::DeviceOf;

// The host's memory as a tensor, on whichever device it lies.
inline at::Tensor Borrow(const bp_tensor& tensor) {
  const at::ScalarType type = tensor.dtype.code == BP_DTYPE_FLOAT  ? at::kFloat
                              : tensor.dtype.code == BP_DTYPE_UINT ? at::kByte
                              : tensor.dtype.bits == 64            ? at::kLong
                                                                   : at::kInt;
  const at::Device device = DeviceOf(tensor.device);
  return at::from_blob(tensor.data, at::IntArrayRef(tensor.shape, tensor.ndim), at::IntArrayRef(tensor.strides, tensor.ndim),
                       nullptr, at::TensorOptions(type).device(device), device);
}

}  // namespace backplane::mappo
