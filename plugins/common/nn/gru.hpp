// A gated recurrent unit (Cho et al., arXiv 1406.1078) as PyTorch's nn.GRU computes it, over one flat parameter buffer. A row's
// result does not depend on the other rows.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "nn/layers.hpp"

namespace backplane::nn {

// With s the state before an input x, and the columns of r, z and n side by side in both layers:
//   r = sigmoid(x Wr + br + s Ur + cr), z = sigmoid(x Wz + bz + s Uz + cz), n = tanh(x Wn + bn + r * (s Un + cn))
//   the state becomes (1 - z) * n + z * s
// `input` has the weights W [in, 3 size] and biases b, `hidden` U [size, 3 size] and c: transposes of PyTorch's weight_ih_l0
// and weight_hh_l0, with the same order of gates.
struct Gru {
  int64_t size = 0;  // of the state; 0: there is no unit
  Layer input, hidden;
};
// Parameters start at *end, which is advanced.
Gru MakeGru(int64_t inputs, int64_t size, int64_t* end);

// Like InitLayer for both layers, with gain 1.
void InitGru(const Gru& gru, bool orthogonal, uint64_t key, float* params);

// "NAME.input.weight", "NAME.input.bias", "NAME.hidden.weight", "NAME.hidden.bias".
void TellGru(const Gru& gru, const std::string& name, const float* params, bp::NamedTensors* out);

// Weights packed for products; pack again after every change of the parameters.
template <class T>
struct PackedGru {
  void PackForward(const Gru& gru, const T* params) {
    input.PackForward(gru.input, params), hidden.PackForward(gru.hidden, params);
  }
  void PackBackward(const Gru& gru, const T* params) { hidden.PackBackward(gru.hidden, params); }
  PackedLayer<T> input, hidden;
};

// Sequences side by side, packed by entry: first the first entries of all, then the second entries of those that have one, and
// so on. Longer sequences come first, so the rows of an entry continue the first rows of the entry before it.
struct Sequences {
  std::span<const int64_t> entries;  // rows of each entry; never rises
  const uint8_t* fresh = nullptr;    // [rows]: 1 if the state is 0 before the row; NULL: never
};

// One thread's buffers for a block of rows.
template <class T>
struct GruWork {
  // With `backward`, also for that pass. Later calls with at most as many rows do not reallocate.
  void Reserve(const Gru& gru, int64_t rows, bool backward);
  std::vector<T> before;  // [rows, size] states before each row. The caller sets the rows of the first entry.
  std::vector<T> state;   // [rows, size] after each row
  std::vector<T> gates;   // [rows, 3 size]: r, z, n; in the pass backward the derivatives at the input's sums
  std::vector<T> sums;    // [rows, 3 size] of `hidden`; in the pass backward the derivatives at them
  std::vector<T> d;       // [rows, size] derivatives at `state`, which the pass backward overwrites
  Packed<T> packed;
};

// From x [rows, in] to work->state; with x NULL from the input's sums in work->gates.
template <class T>
void GruForward(const Gru& gru, const PackedGru<T>& weights, const T* params, const T* x, const Sequences& sequences,
                GruWork<T>* work);

// Adds the gradients of all weights for work->d. No gradient leaves a sequence at its start, or a state of 0. With x NULL,
// omits W; the derivatives at the input's sums are then in work->gates.
template <class T>
void GruBackward(const Gru& gru, const PackedGru<T>& weights, const T* x, const Sequences& sequences, GruWork<T>* work,
                 T* gradient);

}  // namespace backplane::nn
