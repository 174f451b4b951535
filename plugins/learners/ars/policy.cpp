#include "policy.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "backplane/rng.h"
#include "nn/normals.hpp"
#include "nn/vectors.hpp"

namespace backplane::ars {

Policy::Policy(const PolicyShape& shape) : shape_(shape) {
  std::vector<int64_t> sizes = shape.hidden;
  sizes.push_back(shape.outputs);
  int64_t in = shape.obs;
  for (int64_t out : sizes) {
    layers_.push_back({in, out, size_, size_ + in * out});
    size_ += in * out + (shape.bias ? out : 0);
    widest_ = std::max(widest_, out);
    in = out;
  }
}

void Policy::Init(uint64_t seed, double last_std, double* weights) const {
  std::fill_n(weights, size_, 0.0);
  std::vector<float> normals;
  for (size_t i = 0; i < layers_.size(); ++i) {
    const nn::Layer& layer = layers_[i];
    const double std = i + 1 == layers_.size() ? last_std : 1 / std::sqrt(static_cast<double>(layer.in));
    normals.resize(layer.in * layer.out);
    nn::FillNormals(bp_seed(seed, BP_PURPOSE_LEARNER, static_cast<uint32_t>(i), 0), 0, layer.in * layer.out, normals.data());
    for (size_t k = 0; k < normals.size(); ++k) weights[layer.weight + static_cast<int64_t>(k)] = std * normals[k];
  }
}

void Policy::Tell(const double* weights, bp::NamedTensors* out) const {
  for (size_t i = 0; i < layers_.size(); ++i)
    nn::TellLayer(layers_[i], "policy." + std::to_string(i), weights, shape_.bias, out);
}

void Policy::Pack(PackedWeights* weights) const {
  weights->layers.resize(layers_.size());
  for (size_t i = 0; i < layers_.size(); ++i) {
    weights->layers[i].Set(weights->flat.data() + layers_[i].weight, layers_[i].in, layers_[i].out);
  }
}

const float* Policy::Outputs(const PackedWeights& weights, const float* x) const {
  static thread_local std::vector<float> buffers[2];
  for (std::vector<float>& buffer : buffers) {
    if (static_cast<int64_t>(buffer.size()) < widest_) buffer.resize(widest_);
  }
  for (size_t i = 0; i < layers_.size(); ++i) {
    const nn::Layer& layer = layers_[i];
    float* y = buffers[i % 2].data();
    nn::Multiply(x, weights.layers[i], shape_.bias ? weights.flat.data() + layer.bias : nullptr, 1, y);
    if (i + 1 < layers_.size()) {
      shape_.activation == nn::Activation::kTanh ? nn::TanhInPlace(y, layer.out) : nn::ReluInPlace(y, layer.out);
    }
    x = y;
  }
  return x;
}

}  // namespace backplane::ars
