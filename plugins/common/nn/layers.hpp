// Layers over one flat parameter buffer: offsets, initialisation, forward and backward passes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backplane/learner_tensors.hpp"
#include "backplane/options.hpp"
#include "nn/matrix.hpp"

namespace backplane::nn {

enum class Activation { kTanh, kRelu };
constexpr auto WordsOf(Activation) { return bp::Words<Activation>({{"tanh", Activation::kTanh}, {"relu", Activation::kRelu}}); }

// A linear layer: weights [in, out] at `weight`, biases [out] at `bias`, both offsets into the flat buffer.
struct Layer {
  int64_t in = 0, out = 0, weight = 0, bias = 0;
};
// Hidden layers, each followed by the activation; may be empty.
using Trunk = std::vector<Layer>;

// Orthogonal weights times `gain`, or uniform ones in +-1/sqrt(in) without `orthogonal`; biases 0. A function of `key`.
void InitLayer(const Layer& layer, double gain, bool orthogonal, uint64_t key, float* params);

// "NAME.weight" and, with `biases`, "NAME.bias".
template <class T>
void TellLayer(const Layer& layer, const std::string& name, const T* params, bool biases, bp::NamedTensors* out) {
  out->Add(name + ".weight", params + layer.weight, {layer.in, layer.out});
  if (biases) out->Add(name + ".bias", params + layer.bias, {layer.out});
}

// A layer's weights packed for products; pack again after every change of `params`.
template <class T>
struct PackedLayer {
  Packed<T> forward, backward;
  void PackForward(const Layer& layer, const T* params, Precision precision = Precision::kFull) {
    forward.Set(params + layer.weight, layer.in, layer.out, precision);
  }
  void PackBackward(const Layer& layer, const T* params, Precision precision = Precision::kFull) {
    backward.SetTransposed(params + layer.weight, layer.in, layer.out, precision);
  }
};

// Outputs of every hidden layer for a block of rows: [rows, out] each.
template <class T>
using Activations = std::vector<std::vector<T>>;

// Grows the buffers to `rows` rows; later calls with at most as many rows do not reallocate.
template <class T>
void Reserve(const Trunk& trunk, int64_t rows, Activations<T>* out);

// Returns the last hidden layer's output [rows, latent], or x without hidden layers. If x is NULL, (*out)[0] already contains
// the first layer's sums.
template <class T>
const T* TrunkForward(const Trunk& trunk, Activation activation, const std::vector<PackedLayer<T>>& weights, const T* params,
                      const T* x, int64_t rows, Activations<T>* out);

// Adds the layer's gradient, given the derivative d [rows, out] at its output and its input x [rows, in].
template <class T>
void LayerGradient(const Layer& layer, const T* x, const T* d, int64_t rows, Precision precision, Packed<T>* scratch,
                   T* gradient);

// Adds the gradients of all hidden layers, each in the precision of its forward product, given `d` [rows, latent] at the last
// output. Overwrites `d` and `other`, which both hold rows * the widest layer. Returns d without hidden layers. If x is NULL,
// it omits the first layer's weights and returns the derivative at its sums in one of the two buffers; otherwise the derivative
// at x in one of them if the first layer is packed for it, else NULL.
template <class T>
T* TrunkBackward(const Trunk& trunk, Activation activation, const std::vector<PackedLayer<T>>& weights, const T* x,
                 const Activations<T>& results, int64_t rows, T* d, T* other, Packed<T>* scratch, T* gradient);

}  // namespace backplane::nn
