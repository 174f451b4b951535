// A multi-layer perceptron over one flat parameter buffer: layout, initialisation, and forward and backward passes whose result
// for a row does not depend on the other rows (BP_FLAG_ROW_EXACT).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nn/gru.hpp"
#include "nn/layers.hpp"

namespace backplane::on_policy {

using nn::Activation;

// Perhaps a memory, hidden layers, each followed by the activation, and a head without one.
struct Tower {
  nn::Gru memory;    // reads the inputs; the layers read its state
  nn::Trunk hidden;  // may be empty
  nn::Layer head;
  Activation activation;
  int64_t widest;               // largest layer size in the passes
  int64_t begin = 0, end = 0;   // its parameters
  bool derives_inputs = false;  // Backward returns the derivative at the inputs
  int64_t latent() const { return head.in; }
};
// Parameters start at *size, which is advanced. `memory`: size of its state; 0: none.
Tower MakeTower(int64_t inputs, const std::vector<int64_t>& hidden, int64_t outputs, Activation activation, int64_t* size,
                int64_t memory = 0);

// The hidden layers and the head.
inline nn::Trunk AllLayers(const Tower& tower) {
  nn::Trunk all = tower.hidden;
  all.push_back(tower.head);
  return all;
}

// Initialises both towers' parameters from Philox streams of `seed`: orthogonal weights with gains sqrt 2, 0.01 (the actor's
// head), 1 (the critic's and the memories'), or uniform in +-1/sqrt(in) without `orthogonal`; biases 0.
void InitTowers(const Tower& actor, const Tower& critic, uint64_t seed, bool orthogonal, float* params);

// The layers, as "NAME.0.weight", "NAME.0.bias", ..., "NAME.head.bias"; before them the memory, as "NAME.memory.input.weight",
// ...
void TellTower(const Tower& tower, const std::string& name, const float* params, bp::NamedTensors* out);

// Weights packed for products; pack again after every change of the parameters. Any thread may read them.
template <class T>
struct PackedTower {
  // With `backward`, also packs for gradients. Skips hidden layers before `first`.
  void Pack(const Tower& tower, const T* params, bool backward, size_t first = 0);
  // The same in pieces that threads can pack in parallel; call Reserve before.
  void Reserve(const Tower& tower) { hidden.resize(tower.hidden.size()); }
  static int64_t Pieces(const Tower& tower, size_t first = 0) {
    return 2 * static_cast<int64_t>(tower.hidden.size() + 1 - first + (tower.memory.size > 0 ? 1 : 0));
  }
  void PackPiece(const Tower& tower, const T* params, int64_t piece, size_t first = 0);
  nn::PackedGru<T> memory;
  std::vector<nn::PackedLayer<T>> hidden;
  nn::PackedLayer<T> head;
  nn::Precision precision = nn::Precision::kFull;  // for packing and all passes
};

// One thread's buffers for a block of rows.
template <class T>
struct TowerWork {
  // With `backward`, also for that pass. Later calls with at most as many rows do not reallocate.
  void Reserve(const Tower& tower, int64_t rows, bool backward);
  // With a memory, the caller sets the rows' sequences and the states in memory.before.
  nn::Sequences sequences;
  nn::GruWork<T> memory;
  nn::Activations<T> results;   // of the hidden layers
  const T* latent = nullptr;    // [rows, latent], valid after a pass forward
  std::vector<T> head, d_head;  // [rows, head.out]
  std::vector<T> d, other;      // of the pass backward
  nn::Packed<T> packed;
};

// From x [rows, inputs] to work->latent. With x NULL from the sums of the first hidden layer in work->results[0], or of the
// memory's input in work->memory.gates.
template <class T>
void ForwardHidden(const Tower& tower, const PackedTower<T>& weights, const T* params, const T* x, int64_t rows,
                   TowerWork<T>* work);
// As well to work->head.
template <class T>
void Forward(const Tower& tower, const PackedTower<T>& weights, const T* params, const T* x, int64_t rows, TowerWork<T>* work);

// Adds the gradients of all weights, for work->d_head and d_latent [rows, latent], an additional derivative at the latent or
// NULL. Returns the derivative at the input of a tower without hidden layers and memory, or that derives it. If x is NULL,
// omits the weights of the first layer, or of the memory's input, and returns the derivatives at the sums. Otherwise returns
// NULL. Valid until the next call.
template <class T>
const T* Backward(const Tower& tower, const PackedTower<T>& weights, const T* x, const T* d_latent, int64_t rows,
                  TowerWork<T>* work, T* gradient);

}  // namespace backplane::on_policy
