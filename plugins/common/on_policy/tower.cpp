#include "on_policy/tower.hpp"

#include <algorithm>
#include <cmath>

#include "backplane/rng.h"
#include "nn/vectors.hpp"

namespace backplane::on_policy {

Tower MakeTower(int64_t inputs, const std::vector<int64_t>& hidden, int64_t outputs, Activation activation, int64_t* size,
                int64_t memory) {
  Tower tower{{}, {}, {}, activation, inputs, *size};
  if (memory > 0) tower.memory = nn::MakeGru(inputs, memory, size), inputs = memory, tower.widest = memory;
  const auto add = [&](int64_t out) {
    const nn::Layer layer{inputs, out, *size, *size + inputs * out};
    *size += (inputs + 1) * out;
    inputs = out;
    tower.widest = std::max(tower.widest, out);
    return layer;
  };
  if (!hidden.empty() && memory == 0) tower.widest = 0;
  for (const int64_t out : hidden) tower.hidden.push_back(add(out));
  tower.head = add(outputs);
  tower.end = *size;
  return tower;
}

void TellTower(const Tower& tower, const std::string& name, const float* params, bp::NamedTensors* out) {
  if (tower.memory.size > 0) nn::TellGru(tower.memory, name + ".memory", params, out);
  for (size_t i = 0; i < tower.hidden.size(); ++i)
    nn::TellLayer(tower.hidden[i], name + "." + std::to_string(i), params, true, out);
  nn::TellLayer(tower.head, name + ".head", params, true, out);
}

void InitTowers(const Tower& actor, const Tower& critic, uint64_t seed, bool orthogonal, float* params) {
  uint64_t number = 0;
  const auto key = [&] { return bp_seed(seed, BP_PURPOSE_LEARNER, 1, number++); };
  const auto init = [&](const nn::Layer& layer, double gain) { InitLayer(layer, gain, orthogonal, key(), params); };
  for (const auto& [tower, head_gain] : {std::pair{&actor, 0.01}, std::pair{&critic, 1.0}}) {
    if (tower->memory.size > 0) nn::InitGru(tower->memory, orthogonal, key(), params);
    for (const nn::Layer& layer : tower->hidden) init(layer, std::sqrt(2.0));
    init(tower->head, head_gain);
  }
}

template <class T>
void PackedTower<T>::Pack(const Tower& tower, const T* params, bool backward, size_t first) {
  Reserve(tower);
  for (int64_t piece = 0; piece < Pieces(tower, first); piece += backward ? 1 : 2) PackPiece(tower, params, piece, first);
}

// Each layer's forward and then backward weights, then the memory's. Without a memory, the derivative at the first hidden
// layer's inputs is not needed, unless the tower derives it.
template <class T>
void PackedTower<T>::PackPiece(const Tower& tower, const T* params, int64_t piece, size_t first) {
  const size_t i = first + static_cast<size_t>(piece) / 2;
  const bool is_forward = piece % 2 == 0;
  if (i > hidden.size())
    return is_forward ? memory.PackForward(tower.memory, params) : memory.PackBackward(tower.memory, params);
  const bool is_head = i == hidden.size();
  const nn::Layer& from = is_head ? tower.head : tower.hidden[i];
  nn::PackedLayer<T>& to = is_head ? head : hidden[i];
  if (is_forward) to.PackForward(from, params, precision);
  if (!is_forward && (is_head || i > 0 || tower.memory.size > 0 || tower.derives_inputs))
    to.PackBackward(from, params, precision);
}

template <class T>
void TowerWork<T>::Reserve(const Tower& tower, int64_t rows, bool backward) {
  const auto grow = [rows](std::vector<T>* buffer, int64_t columns) {
    if (buffer->size() < static_cast<size_t>(rows * columns)) buffer->resize(rows * columns);
  };
  if (tower.memory.size > 0) memory.Reserve(tower.memory, rows, backward);
  nn::Reserve(tower.hidden, rows, &results);
  grow(&head, tower.head.out);
  if (backward) grow(&d_head, tower.head.out), grow(&d, tower.widest), grow(&other, tower.widest);
}

template <class T>
void ForwardHidden(const Tower& tower, const PackedTower<T>& weights, const T* params, const T* x, int64_t rows,
                   TowerWork<T>* w) {
  if (tower.memory.size > 0) {
    nn::GruForward(tower.memory, weights.memory, params, x, w->sequences, &w->memory);
    x = w->memory.state.data();
  }
  w->latent = TrunkForward(tower.hidden, tower.activation, weights.hidden, params, x, rows, &w->results);
}

template <class T>
void Forward(const Tower& tower, const PackedTower<T>& weights, const T* params, const T* x, int64_t rows, TowerWork<T>* w) {
  ForwardHidden(tower, weights, params, x, rows, w);
  nn::Multiply(w->latent, weights.head.forward, params + tower.head.bias, rows, w->head.data());
}

template <class T>
const T* Backward(const Tower& tower, const PackedTower<T>& weights, const T* x, const T* d_latent, int64_t rows,
                  TowerWork<T>* w, T* gradient) {
  LayerGradient(tower.head, w->latent, w->d_head.data(), rows, weights.precision, &w->packed, gradient);
  nn::Multiply<T>(w->d_head.data(), weights.head.backward, nullptr, rows, w->d.data());
  if (d_latent) nn::Add(d_latent, rows * tower.latent(), w->d.data());
  const bool remembers = tower.memory.size > 0;
  const T* const seen = remembers ? w->memory.state.data() : x;
  const T* const d = TrunkBackward(tower.hidden, tower.activation, weights.hidden, seen, w->results, rows, w->d.data(),
                                   w->other.data(), &w->packed, gradient);
  if (!remembers) return d;
  std::copy_n(d, rows * tower.memory.size, w->memory.d.data());
  nn::GruBackward(tower.memory, weights.memory, x, w->sequences, &w->memory, gradient);
  return x ? nullptr : w->memory.gates.data();
}

#define BP_INSTANTIATE(T)                                                                                       \
  template struct PackedTower<T>;                                                                               \
  template struct TowerWork<T>;                                                                                 \
  template void ForwardHidden(const Tower&, const PackedTower<T>&, const T*, const T*, int64_t, TowerWork<T>*); \
  template void Forward(const Tower&, const PackedTower<T>&, const T*, const T*, int64_t, TowerWork<T>*);       \
  template const T* Backward(const Tower&, const PackedTower<T>&, const T*, const T*, int64_t, TowerWork<T>*, T*);
BP_INSTANTIATE(float)
BP_INSTANTIATE(double)
#undef BP_INSTANTIATE

}  // namespace backplane::on_policy
