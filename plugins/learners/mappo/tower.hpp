// A multi-layer perceptron whose first layer takes sparse inputs: the sums of that layer come from outside, the rest is here.
#pragma once

#include <cstdint>
#include <vector>

#include "nn/layers.hpp"

namespace backplane::mappo {

using nn::Activation;

// input -> activation -> trunk -> head, the head without activation.
struct Tower {
  nn::Layer input;
  nn::Trunk trunk;
  nn::Layer head;
  Activation activation;
  int64_t widest;  // of all layers' results
};
// `hidden` has one size or more. Parameters start at *size, which moves on.
Tower MakeTower(int64_t inputs, const std::vector<int64_t>& hidden, int64_t outputs, Activation activation, int64_t* size);

// The weights as the products want them; to be packed anew after every change of the parameters. Read by any thread.
struct PackedTower {
  void Pack(const Tower& tower, const float* params, bool backward);
  std::vector<nn::PackedLayer<float>> trunk;
  nn::PackedLayer<float> head;
};

// One thread's buffers for a block of rows.
struct TowerWork {
  void Reserve(const Tower& tower, int64_t rows);
  // Results of the input layer [rows, input.out]: the caller writes its sums here.
  std::vector<float> first;
  nn::Activations<float> results;
  std::vector<float> head, d_head;  // [rows, head.out]
  const float* latent = nullptr;
  std::vector<float> d, other;
  nn::Packed<float> packed;
};

// Every row of `first` starts from the biases of the input layer.
void StartFromBias(const Tower& tower, const float* params, int64_t rows, float* first);
// From the sums in work->first to work->head.
void Forward(const Tower& tower, const PackedTower& weights, const float* params, int64_t rows, TowerWork* work);
// Given work->d_head adds the gradients of all but the input layer's weights, and returns the derivatives [rows, input.out] at
// its sums, valid until the next call.
const float* Backward(const Tower& tower, const PackedTower& weights, int64_t rows, TowerWork* work, float* gradient);

}  // namespace backplane::mappo
