#include "on_policy/vision.hpp"

#include <algorithm>
#include <cmath>

#include "backplane/rng.h"
#include "nn/vectors.hpp"

namespace backplane::on_policy {
namespace {

struct Shape {
  int64_t filters, kernel, stride;
};
constexpr Shape kShapes[] = {{32, 8, 4}, {64, 4, 2}, {64, 3, 1}};
constexpr int64_t kFeatures = 512;

template <class T>
void Grow(std::vector<T>* buffer, int64_t n) {
  if (buffer->size() < static_cast<size_t>(n)) buffer->resize(static_cast<size_t>(n));
}

int64_t ResultSize(const nn::Conv& conv) { return conv.result().size(); }

// The result of a row's convolution i.
template <class T>
T* ResultOf(const Vision& vision, size_t i, int64_t row, VisionWork<T>* w) {
  const bool kept = w->keeps || i + 1 == vision.convs.size();
  return w->results[i].data() + (kept ? row * ResultSize(vision.convs[i]) : 0);
}

}  // namespace

Vision MakeVision(const nn::Image& image, int64_t* size) {
  Vision vision{image, {}, {}, *size, *size};
  const auto add = [&](int64_t in, int64_t out) {
    const nn::Layer layer{in, out, *size, *size + in * out};
    *size += (in + 1) * out;
    return layer;
  };
  nn::Image next = image;
  for (const Shape& shape : kShapes) {
    nn::Conv conv{{}, next, shape.kernel, shape.stride};
    conv.layer = add(shape.kernel * shape.kernel * next.channels, shape.filters);
    vision.convs.push_back(conv);
    next = conv.result();
  }
  vision.dense = add(next.size(), kFeatures);
  vision.end = *size;
  return vision;
}

void InitVision(const Vision& vision, uint64_t key, bool orthogonal, float* params) {
  uint64_t number = 0;
  const auto init = [&](const nn::Layer& layer) {
    InitLayer(layer, std::sqrt(2.0), orthogonal, bp_seed(key, BP_PURPOSE_LEARNER, 0, number++), params);
  };
  for (const nn::Conv& conv : vision.convs) init(conv.layer);
  init(vision.dense);
}

void TellVision(const Vision& vision, const std::string& name, const float* params, bp::NamedTensors* out) {
  for (size_t i = 0; i < vision.convs.size(); ++i)
    nn::TellLayer(vision.convs[i].layer, name + "." + std::to_string(i), params, true, out);
  nn::TellLayer(vision.dense, name + ".dense", params, true, out);
}

// Each layer's forward and then backward weights. The derivative at the pixels is not needed.
template <class T>
void PackedVision<T>::PackPiece(const Vision& vision, const T* params, int64_t piece) {
  const auto i = static_cast<size_t>(piece) / 2;
  const nn::Layer& layer = i < vision.convs.size() ? vision.convs[i].layer : vision.dense;
  if (piece % 2 == 0) layers[i].PackForward(layer, params, precision);
  if (piece % 2 == 1 && i > 0) layers[i].PackBackward(layer, params, precision);
}

template <class T>
void VisionWork<T>::Reserve(const Vision& vision, int64_t rows, bool backward) {
  Grow(&image, vision.image.size());
  results.resize(vision.convs.size()), keeps = backward;
  int64_t most_patches = 0, widest = 0;
  for (size_t i = 0; i < vision.convs.size(); ++i) {
    const nn::Conv& conv = vision.convs[i];
    const bool kept = backward || i + 1 == vision.convs.size();
    Grow(&results[i], (kept ? rows : 1) * ResultSize(conv));
    most_patches = std::max(most_patches, conv.patches() * conv.layer.in), widest = std::max(widest, ResultSize(conv));
  }
  Grow(&patches, most_patches);
  Grow(&features, rows * vision.dense.out);
  if (!backward) return;
  Grow(&d_patches, most_patches), Grow(&d, widest), Grow(&other, widest);
  Grow(&d_features, rows * vision.dense.out), Grow(&d_last, rows * vision.dense.in);
}

template <class T>
void VisionForward(const Vision& vision, const PackedVision<T>& weights, const T* params, const uint8_t* const* pixels,
                   int64_t rows, VisionWork<T>* w) {
  for (int64_t r = 0; r < rows; ++r) {
    nn::ScalePixels(pixels[r], vision.image.size(), w->image.data());
    const T* x = w->image.data();
    for (size_t i = 0; i < vision.convs.size(); ++i) {
      const nn::Conv& conv = vision.convs[i];
      T* const y = ResultOf(vision, i, r, w);
      nn::Patches(conv, x, w->patches.data());
      nn::Multiply(w->patches.data(), weights.layers[i].forward, params + conv.layer.bias, conv.patches(), y);
      nn::ReluInPlace(y, ResultSize(conv));
      x = y;
    }
  }
  nn::Multiply(w->results.back().data(), weights.layers.back().forward, params + vision.dense.bias, rows, w->features.data());
  nn::ReluInPlace(w->features.data(), rows * vision.dense.out);
}

template <class T>
void VisionBackward(const Vision& vision, const PackedVision<T>& weights, const uint8_t* const* pixels, int64_t rows,
                    VisionWork<T>* w, T* gradient) {
  nn::ReluBackward(w->features.data(), w->d_features.data(), rows * vision.dense.out);
  nn::LayerGradient(vision.dense, w->results.back().data(), w->d_features.data(), rows, weights.precision, &w->packed,
                    gradient);
  nn::Multiply<T>(w->d_features.data(), weights.layers.back().backward, nullptr, rows, w->d_last.data());
  for (int64_t r = 0; r < rows; ++r) {
    T *d = w->d_last.data() + r * vision.dense.in, *next = w->d.data(), *free = w->other.data();
    for (size_t i = vision.convs.size(); i-- > 0; d = next, std::swap(next, free)) {
      const nn::Conv& conv = vision.convs[i];
      if (i == 0) nn::ScalePixels(pixels[r], vision.image.size(), w->image.data());
      nn::ReluBackward(ResultOf(vision, i, r, w), d, ResultSize(conv));
      nn::Patches(conv, i == 0 ? w->image.data() : ResultOf(vision, i - 1, r, w), w->patches.data());
      nn::LayerGradient(conv.layer, w->patches.data(), d, conv.patches(), weights.precision, &w->packed, gradient);
      if (i == 0) break;
      nn::Multiply<T>(d, weights.layers[i].backward, nullptr, conv.patches(), w->d_patches.data());
      std::fill_n(next, conv.image.size(), T{0});
      nn::AddPatches(conv, w->d_patches.data(), next);
    }
  }
}

#define BP_INSTANTIATE(T)                                                                                      \
  template struct PackedVision<T>;                                                                             \
  template struct VisionWork<T>;                                                                               \
  template void VisionForward(const Vision&, const PackedVision<T>&, const T*, const uint8_t* const*, int64_t, \
                              VisionWork<T>*);                                                                 \
  template void VisionBackward(const Vision&, const PackedVision<T>&, const uint8_t* const*, int64_t, VisionWork<T>*, T*);
BP_INSTANTIATE(float)
BP_INSTANTIATE(double)
#undef BP_INSTANTIATE

}  // namespace backplane::on_policy
