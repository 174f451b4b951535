// The policy's network: a matrix, or a multi-layer perceptron, over one flat buffer of weights. It processes one observation at
// a time, because neighbouring rows have different weights. Every output adds its products in the same order (nn/matrix.hpp),
// so an action depends only on the weights and the observation.
#pragma once

#include <cstdint>
#include <vector>

#include "nn/layers.hpp"

namespace backplane::ars {

struct PolicyShape {
  int64_t obs, outputs;
  std::vector<int64_t> hidden;  // empty: a linear policy
  bool bias;
  nn::Activation activation;
};

// A set of weights as the products want them.
struct PackedWeights {
  std::vector<nn::Packed<float>> layers;
  std::vector<float> flat;  // [size]; biases are read from here
};

class Policy {
 public:
  explicit Policy(const PolicyShape& shape);

  int64_t size() const { return size_; }
  const PolicyShape& shape() const { return shape_; }
  const nn::Trunk& layers() const { return layers_; }  // the last gives the outputs
  // First weights: normal, with deviation `last_std` in the last layer and 1 / sqrt(inputs) in those before; biases 0.
  void Init(uint64_t seed, double last_std, double* weights) const;
  void Tell(const double* weights, bp::NamedTensors* out) const;
  // Reorders weights->flat, which the caller has filled.
  void Pack(PackedWeights* weights) const;
  // Returns the outputs for x [obs], valid until the thread's next call.
  const float* Outputs(const PackedWeights& weights, const float* x) const;

 private:
  PolicyShape shape_;
  nn::Trunk layers_;  // hidden ones and the last; without biases `bias` is not used
  int64_t size_ = 0, widest_ = 0;
};

}  // namespace backplane::ars
