// The convolutional net that turns an image into features, over one flat parameter buffer: layout, initialisation, and forward
// and backward passes whose result for a row does not depend on the other rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nn/conv.hpp"

namespace backplane::on_policy {

// The places of samples' images: image i is at data + i / rows * step + i % rows * row.
struct Pixels {
  const uint8_t* data = nullptr;
  int64_t rows = 1, step = 0, row = 0;  // step, row: in bytes
  const uint8_t* At(int64_t i) const { return data + i / rows * step + i % rows * row; }
};

// The net of Mnih et al. (Nature 518, 2015): 32 filters of 8 x 8 at a stride of 4, 64 of 4 x 4 at 2, 64 of 3 x 3 at 1, then 512
// features from all of them, each followed by ReLU.
struct Vision {
  nn::Image image;
  std::vector<nn::Conv> convs;
  nn::Layer dense;
  int64_t begin = 0, end = 0;  // its parameters
};
constexpr int64_t kLeastSide = 36;  // of an image in pixels
// Parameters start at *size, which is advanced.
Vision MakeVision(const nn::Image& image, int64_t* size);

// Orthogonal weights with gain sqrt 2, or uniform ones in +-1/sqrt(in); biases 0. A function of `key`.
void InitVision(const Vision& vision, uint64_t key, bool orthogonal, float* params);

// "NAME.0.weight" [patch, filters], "NAME.0.bias", ..., "NAME.dense.bias".
void TellVision(const Vision& vision, const std::string& name, const float* params, bp::NamedTensors* out);

// Weights packed for products; pack again after every change of the parameters.
template <class T>
struct PackedVision {
  // With `backward`, also for gradients.
  void Pack(const Vision& vision, const T* params, bool backward) {
    Reserve(vision);
    for (int64_t piece = 0; piece < Pieces(vision); piece += backward ? 1 : 2) PackPiece(vision, params, piece);
  }
  // The same in pieces that threads can pack in parallel; call Reserve before.
  void Reserve(const Vision& vision) { layers.resize(vision.convs.size() + 1); }
  static int64_t Pieces(const Vision& vision) { return 2 * static_cast<int64_t>(vision.convs.size() + 1); }
  void PackPiece(const Vision& vision, const T* params, int64_t piece);
  std::vector<nn::PackedLayer<T>> layers;  // of the convolutions, then the dense one
  nn::Precision precision = nn::Precision::kFull;
};

// One thread's buffers for a block of rows.
template <class T>
struct VisionWork {
  // With `backward`, also for that pass. Later calls with at most as many rows do not reallocate.
  void Reserve(const Vision& vision, int64_t rows, bool backward);
  std::vector<T> image, patches, d_patches;  // of one image
  std::vector<std::vector<T>> results;       // of each convolution, [rows, patches, filters]; see `keeps`
  bool keeps = false;                        // results of all rows are kept for the pass backward, else of the last layer only
  std::vector<T> features, d_features;       // [rows, features]; the caller sets d_features
  std::vector<T> d_last, d, other;           // derivatives: [rows, ...] at the last convolution; of one image
  nn::Packed<T> packed;
};

// From the images, pixels[r] of row r, to work->features.
template <class T>
void VisionForward(const Vision& vision, const PackedVision<T>& weights, const T* params, const uint8_t* const* pixels,
                   int64_t rows, VisionWork<T>* work);
// Adds the gradients of all weights for work->d_features, which it overwrites.
template <class T>
void VisionBackward(const Vision& vision, const PackedVision<T>& weights, const uint8_t* const* pixels, int64_t rows,
                    VisionWork<T>* work, T* gradient);

}  // namespace backplane::on_policy
