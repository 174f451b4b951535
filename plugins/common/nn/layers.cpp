#include "nn/layers.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "backplane/rng.h"
#include "nn/orthonormal.hpp"
#include "nn/vectors.hpp"

namespace backplane::nn {

void InitLayer(const Layer& layer, double gain, bool orthogonal, uint64_t key, float* params) {
  bp_rng rng{key, 0};
  float* w = params + layer.weight;
  std::fill_n(params + layer.bias, layer.out, 0.0f);
  if (!orthogonal) {
    const double bound = 1.0 / std::sqrt(static_cast<double>(layer.in));
    for (int64_t i = 0; i < layer.in * layer.out; ++i) w[i] = static_cast<float>(bp_rng_range(&rng, -bound, bound));
    return;
  }
  const bool by_row = layer.in < layer.out;  // the shorter side counts the vectors
  const Orthonormal q(&rng, std::min(layer.in, layer.out), std::max(layer.in, layer.out));
  for (int64_t i = 0; i < layer.in; ++i) {
    for (int64_t j = 0; j < layer.out; ++j) {
      w[i * layer.out + j] = static_cast<float>(gain * (by_row ? q.At(i, j) : q.At(j, i)));
    }
  }
}

template <class T>
void Reserve(const Trunk& trunk, int64_t rows, Activations<T>* out) {
  out->resize(trunk.size());
  for (size_t i = 0; i < trunk.size(); ++i) {
    const auto size = static_cast<size_t>(rows * trunk[i].out);
    if ((*out)[i].size() < size) (*out)[i].resize(size);
  }
}

template <class T>
const T* TrunkForward(const Trunk& trunk, Activation activation, const std::vector<PackedLayer<T>>& weights, const T* params,
                      const T* x, int64_t rows, Activations<T>* out) {
  for (size_t i = 0; i < trunk.size(); ++i) {
    T* y = (*out)[i].data();
    if (x) Multiply(x, weights[i].forward, params + trunk[i].bias, rows, y);
    activation == Activation::kTanh ? TanhInPlace(y, rows * trunk[i].out) : ReluInPlace(y, rows * trunk[i].out);
    x = y;
  }
  return x;
}

template <class T>
void LayerGradient(const Layer& layer, const T* x, const T* d, int64_t rows, Precision precision, Packed<T>* scratch,
                   T* gradient) {
  scratch->Set(d, rows, layer.out, precision);
  MultiplyTransposedAdd(x, layer.in, *scratch, gradient + layer.weight);
  AddRows(d, rows, layer.out, gradient + layer.bias);
}

template <class T>
T* TrunkBackward(const Trunk& trunk, Activation activation, const std::vector<PackedLayer<T>>& weights, const T* x,
                 const Activations<T>& results, int64_t rows, T* d, T* other, Packed<T>* scratch, T* gradient) {
  for (size_t i = trunk.size(); i-- > 0;) {
    const T* y = results[i].data();
    activation == Activation::kTanh ? TanhBackward(y, d, rows * trunk[i].out) : ReluBackward(y, d, rows * trunk[i].out);
    if (i == 0 && !x) {
      AddRows(d, rows, trunk[0].out, gradient + trunk[0].bias);
      return d;
    }
    LayerGradient(trunk[i], i > 0 ? results[i - 1].data() : x, d, rows, weights[i].forward.precision(), scratch, gradient);
    if (i == 0 && weights[0].backward.k() == 0) return nullptr;
    Multiply<T>(d, weights[i].backward, nullptr, rows, other);
    std::swap(d, other);
  }
  return d;
}

#define BP_NN_INSTANTIATE(T)                                                                                                \
  template void Reserve(const Trunk&, int64_t, Activations<T>*);                                                            \
  template const T* TrunkForward(const Trunk&, Activation, const std::vector<PackedLayer<T>>&, const T*, const T*, int64_t, \
                                 Activations<T>*);                                                                          \
  template void LayerGradient(const Layer&, const T*, const T*, int64_t, Precision, Packed<T>*, T*);                        \
  template T* TrunkBackward(const Trunk&, Activation, const std::vector<PackedLayer<T>>&, const T*, const Activations<T>&,  \
                            int64_t, T*, T*, Packed<T>*, T*);
BP_NN_INSTANTIATE(float)
BP_NN_INSTANTIATE(double)
#undef BP_NN_INSTANTIATE

}  // namespace backplane::nn
