// Networks as LibTorch computes them, over the flat parameter buffer.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <optional>

#include "on_policy/options.hpp"
#include "on_policy/tower.hpp"
#include "on_policy/vision.hpp"

namespace backplane::on_policy {

// The type of layers in mixed precision.
inline std::optional<at::ScalarType> LowType(Amp amp) {
  if (amp == Amp::kOff) return std::nullopt;
  return amp == Amp::kFp16 ? at::kHalf : at::kBFloat16;
}

// A part of the flat buffer as a tensor.
using TensorOf = std::function<at::Tensor(int64_t offset, at::IntArrayRef shape)>;

// Parts of a flat tensor, without a gradient.
inline TensorOf PartsOf(const at::Tensor& flat) {
  return [flat](int64_t offset, at::IntArrayRef shape) {
    return flat.narrow(0, offset, c10::multiply_integers(shape)).view(shape);
  };
}
// As leaves of the graph: backward() adds into `gradient`, as a defined gradient is added to in place.
inline TensorOf LeavesOf(const at::Tensor& flat, const at::Tensor& gradient) {
  return [part = PartsOf(flat), gradient_part = PartsOf(gradient)](int64_t offset, at::IntArrayRef shape) {
    at::Tensor leaf = part(offset, shape).detach();
    leaf.set_requires_grad(true);
    leaf.mutable_grad() = gradient_part(offset, shape);
    return leaf;
  };
}

inline at::Tensor TorchLayer(const nn::Layer& layer, const at::Tensor& x, const TensorOf& part) {
  return at::addmm(part(layer.bias, {layer.out}), x, part(layer.weight, {layer.in, layer.out}));
}
// [n, size] uint8 -> [n, features]. `type` is the features'.
inline at::Tensor TorchVision(const Vision& vision, const at::Tensor& pixels, at::ScalarType type, const TensorOf& part) {
  const nn::Image& image = vision.image;
  const int64_t n = pixels.size(0);
  at::Tensor x = pixels.to(type) * (1.0 / 255);
  x = image.planar ? x.view({n, image.channels, image.height, image.width})
                   : x.view({n, image.height, image.width, image.channels}).permute({0, 3, 1, 2});
  for (const nn::Conv& conv : vision.convs) {
    const nn::Layer& layer = conv.layer;
    const at::Tensor weight = part(layer.weight, {layer.in, layer.out}).t();
    const int64_t k = conv.kernel, depth = conv.image.channels;
    const at::Tensor kernels = conv.image.planar ? weight.reshape({layer.out, depth, k, k})
                                                 : weight.reshape({layer.out, k, k, depth}).permute({0, 3, 1, 2});
    x = at::conv2d(x, kernels, part(layer.bias, {layer.out}), conv.stride).relu();
  }
  return TorchLayer(vision.dense, x.permute({0, 2, 3, 1}).reshape({n, -1}), part).relu();
}
// [n, inputs] -> [n, latent]
inline at::Tensor TorchHidden(const Tower& tower, at::Tensor x, const TensorOf& part) {
  for (const nn::Layer& layer : tower.hidden) {
    x = TorchLayer(layer, x, part);
    x = tower.activation == Activation::kTanh ? x.tanh() : x.relu();
  }
  return x;
}
// [n, inputs] -> [n, head.out], of the input's type also under autocast.
inline at::Tensor TorchTower(const Tower& tower, const at::Tensor& x, const TensorOf& part) {
  return TorchLayer(tower.head, TorchHidden(tower, x, part), part).to(x.scalar_type());
}

}  // namespace backplane::on_policy
