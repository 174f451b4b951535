#include "nn/conv.hpp"

#include <algorithm>
#include <cstring>

#include "nn/vectors.hpp"

namespace backplane::nn {
namespace {

// Calls body(first number in the image, numbers) for each run of a patch that is contiguous in the image.
template <class Body>
void ForRuns(const Conv& conv, int64_t y, int64_t x, Body&& body) {
  const Image& image = conv.image;
  const int64_t planes = image.planar ? image.channels : 1, depth = image.planar ? 1 : image.channels;
  for (int64_t plane = 0; plane < planes; ++plane)
    for (int64_t row = 0; row < conv.kernel; ++row)
      body(((plane * image.height + y * conv.stride + row) * image.width + x * conv.stride) * depth, conv.kernel * depth);
}

template <class T>
void CopyRun(const T* from, int64_t n, T* to) {
  constexpr int64_t kUsual = 8;  // a kernel of 8 on a planar image: calling memcpy would take longer than the copy
  n == kUsual ? (void)std::memcpy(to, from, kUsual * sizeof(T)) : (void)std::memcpy(to, from, n * sizeof(T));
}

}  // namespace

template <class T>
void Patches(const Conv& conv, const T* image, T* out) {
  const Image result = conv.result();
  for (int64_t y = 0; y < result.height; ++y)
    for (int64_t x = 0; x < result.width; ++x)
      ForRuns(conv, y, x, [&](int64_t at, int64_t n) { CopyRun(image + at, n, out), out += n; });
}

template <class T>
void AddPatches(const Conv& conv, const T* patches, T* image) {
  const Image result = conv.result();
  for (int64_t y = 0; y < result.height; ++y)
    for (int64_t x = 0; x < result.width; ++x)
      ForRuns(conv, y, x, [&](int64_t at, int64_t n) { Add(patches, n, image + at), patches += n; });
}

template <class T>
void ScalePixels(const uint8_t* pixels, int64_t n, T* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(pixels[i]) * (T(1) / T(255));
}

#define BP_NN_INSTANTIATE(T)                           \
  template void Patches(const Conv&, const T*, T*);    \
  template void AddPatches(const Conv&, const T*, T*); \
  template void ScalePixels(const uint8_t*, int64_t, T*);
BP_NN_INSTANTIATE(float)
BP_NN_INSTANTIATE(double)
#undef BP_NN_INSTANTIATE

}  // namespace backplane::nn
