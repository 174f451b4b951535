// Convolutional layers on a CPU: patches of an image as rows of a matrix, multiplied by the layer's weights (matrix.hpp).
#pragma once

#include <cstdint>

#include "nn/layers.hpp"

namespace backplane::nn {

struct Image {
  int64_t height = 0, width = 0, channels = 0;
  bool planar = false;  // [channels, height, width], else [height, width, channels]
  int64_t size() const { return height * width * channels; }
};

// Square patches of side `kernel`, `stride` apart, without padding. layer.in has a patch's numbers, in the order of the image:
// [channel, y, x] if it is planar, else [y, x, channel]; layer.out filters. The result is not planar.
struct Conv {
  Layer layer;
  Image image;
  int64_t kernel = 0, stride = 0;
  Image result() const { return {(image.height - kernel) / stride + 1, (image.width - kernel) / stride + 1, layer.out, false}; }
  int64_t patches() const { return result().height * result().width; }
};

// Writes the patches of an image into `out` [patches, layer.in].
template <class T>
void Patches(const Conv& conv, const T* image, T* out);
// The transpose: adds each patch's numbers to the places in the image from which they come. Not for planar images.
template <class T>
void AddPatches(const Conv& conv, const T* patches, T* image);

// out = pixels / 255
template <class T>
void ScalePixels(const uint8_t* pixels, int64_t n, T* out);

}  // namespace backplane::nn
