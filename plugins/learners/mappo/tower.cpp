#include "tower.hpp"

#include <algorithm>

#include "nn/vectors.hpp"

namespace backplane::mappo {

Tower MakeTower(int64_t inputs, const std::vector<int64_t>& hidden, int64_t outputs, Activation activation, int64_t* size) {
  Tower tower{};
  tower.activation = activation;
  const auto add = [&](int64_t out) {
    const nn::Layer layer{inputs, out, *size, *size + inputs * out};
    *size += (inputs + 1) * out;
    inputs = out;
    tower.widest = std::max(tower.widest, out);
    return layer;
  };
  tower.input = add(hidden.front());
  for (size_t i = 1; i < hidden.size(); ++i) tower.trunk.push_back(add(hidden[i]));
  tower.head = add(outputs);
  return tower;
}

void PackedTower::Pack(const Tower& tower, const float* params, bool backward) {
  const auto pack = [&](const nn::Layer& from, nn::PackedLayer<float>* to) {
    backward ? to->Pack(from, params) : to->PackForward(from, params);
  };
  trunk.resize(tower.trunk.size());
  for (size_t i = 0; i < trunk.size(); ++i) pack(tower.trunk[i], &trunk[i]);
  pack(tower.head, &head);
}

void TowerWork::Reserve(const Tower& tower, int64_t rows) {
  const auto grow = [](std::vector<float>* buffer, int64_t size) {
    if (buffer->size() < static_cast<size_t>(size)) buffer->resize(size);
  };
  grow(&first, rows * tower.input.out);
  nn::Reserve(tower.trunk, rows, &results);
  grow(&head, rows * tower.head.out), grow(&d_head, rows * tower.head.out);
  grow(&d, rows * tower.widest), grow(&other, rows * tower.widest);
}

void StartFromBias(const Tower& tower, const float* params, int64_t rows, float* first) {
  for (int64_t i = 0; i < rows; ++i) std::copy_n(params + tower.input.bias, tower.input.out, first + i * tower.input.out);
}

void Forward(const Tower& tower, const PackedTower& weights, const float* params, int64_t rows, TowerWork* w) {
  const int64_t n = rows * tower.input.out;
  tower.activation == Activation::kTanh ? nn::TanhInPlace(w->first.data(), n) : nn::ReluInPlace(w->first.data(), n);
  w->latent = TrunkForward(tower.trunk, tower.activation, weights.trunk, params, w->first.data(), rows, &w->results);
  nn::Multiply(w->latent, weights.head.forward, params + tower.head.bias, rows, w->head.data());
}

const float* Backward(const Tower& tower, const PackedTower& weights, int64_t rows, TowerWork* w, float* gradient) {
  LayerGradient(tower.head, w->latent, w->d_head.data(), rows, &w->packed, gradient);
  nn::Multiply<float>(w->d_head.data(), weights.head.backward, nullptr, rows, w->d.data());
  float* d = TrunkBackward(tower.trunk, tower.activation, weights.trunk, w->first.data(), w->results, rows, w->d.data(),
                           w->other.data(), &w->packed, gradient, /*to_input=*/true);
  const int64_t n = rows * tower.input.out;
  tower.activation == Activation::kTanh ? nn::TanhBackward(w->first.data(), d, n) : nn::ReluBackward(w->first.data(), d, n);
  nn::AddRows(d, rows, tower.input.out, gradient + tower.input.bias);
  return d;
}

}  // namespace backplane::mappo
