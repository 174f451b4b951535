// Pieces of loops over rows of float32, for bodies that Dispatch runs (simd.hpp).
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "nn/simd.hpp"

namespace backplane::nn {

// The lanes of a register added up, halves onto halves.
template <Isa isa>
BP_NN_INLINE float SumOf(const Vec<float, isa>& v) {
  if constexpr (kLanes<float, isa> == 16) {
    const auto eight =
        __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) + __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
    const auto four = __builtin_shufflevector(eight, eight, 0, 1, 2, 3) + __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
    const auto two = four + __builtin_shufflevector(four, four, 2, 3, 2, 3);
    return two[0] + two[1];
  } else if constexpr (kLanes<float, isa> == 8) {
    const auto four = __builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7);
    const auto two = four + __builtin_shufflevector(four, four, 2, 3, 2, 3);
    return two[0] + two[1];
  } else {
    const auto two = v + __builtin_shufflevector(v, v, 2, 3, 2, 3);
    return two[0] + two[1];
  }
}

// Fills a partial register with zeros, or with `rest`.
template <Isa isa>
BP_NN_INLINE void LoadUpTo(const float* from, int64_t n, float rest, Vec<float, isa>* to) {
  constexpr int64_t kWidth = kLanes<float, isa>;
  if (n >= kWidth) return Load(from, to);
  float part[kWidth];
  std::fill_n(part, kWidth, rest);
  std::copy_n(from, n, part);
  Load(part, to);
}

// Mean of a row of n, and its scale 1 / sqrt(variance + epsilon).
struct Moments {
  float mean, scale;
};
template <Isa isa>
BP_NN_INLINE Moments MomentsOf(const float* row, int64_t n, float epsilon) {
  constexpr int64_t kWidth = kLanes<float, isa>;
  const auto count = static_cast<float>(n);
  Vec<float, isa> next, sum = {}, squares = {};
  for (int64_t i = 0; i < n; i += kWidth) {
    LoadUpTo<isa>(row + i, n - i, 0, &next);
    sum += next;
  }
  const float mean = SumOf<isa>(sum) / count;
  for (int64_t i = 0; i < n; i += kWidth) {
    LoadUpTo<isa>(row + i, n - i, mean, &next);
    squares += (next - mean) * (next - mean);
  }
  return {mean, 1 / std::sqrt(SumOf<isa>(squares) / count + epsilon)};
}

// Cephes' expf (Moshier): 2^k e^r with |r| <= log(2) / 2. Written for one number, because the compiler vectorises it in loops
// but splits comparisons of whole vectors.
BP_NN_INLINE float ExpOf(float x) {
  x = x < -87.3f ? -87.3f : x;
  x = x > 88.0f ? 88.0f : x;
  constexpr float kRounds = 12582912;  // 1.5 * 2^23: adding it drops the fraction and leaves k in the last bits
  const float sum = x * 1.44269504088896341f + kRounds, k = sum - kRounds;
  const float r = x - k * 0.693359375f + k * 2.12194440e-4f;
  float p = r * 1.9875691500e-4f + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  const uint32_t bits = (std::bit_cast<uint32_t>(sum) - std::bit_cast<uint32_t>(kRounds) + 127) << 23;
  return (p * r * r + r + 1.0f) * std::bit_cast<float>(bits);
}

// erf(x / sqrt(2)) by the rational function of Eigen (generic_fast_erf), likewise.
BP_NN_INLINE float ErfOfRoot(float x) {
  float z = x * 0.70710678118654752f;
  z = z > 4.0f ? 4.0f : z;
  z = z < -4.0f ? -4.0f : z;
  const float s = z * z;
  float p = s * -2.72614225801306e-10f + 2.77068142495902e-08f;
  p = p * s - 2.10102402082508e-06f;
  p = p * s - 5.69250639462346e-05f;
  p = p * s - 7.34990630326855e-04f;
  p = p * s - 2.95459980854025e-03f;
  p = p * s - 1.60960333262415e-02f;
  float q = s * -1.45660718464996e-05f - 2.13374055278905e-04f;
  q = q * s - 1.68282697438203e-03f;
  q = q * s - 7.37332916720468e-03f;
  q = q * s - 1.42647390514189e-02f;
  return z * p / q;
}

// values = Body::Of(value) for each value, in whole registers: an element's result does not depend on its index.
template <Isa isa, class Body>
BP_NN_INLINE void EachInPlace(float* values, int64_t n) {
  constexpr int64_t kWidth = kLanes<float, isa>;
  const int64_t whole = n / kWidth * kWidth;
  for (int64_t i = 0; i < whole; ++i) values[i] = Body::Of(values[i]);
  if (whole == n) return;
  float rest[kWidth] = {};
  std::copy(values + whole, values + n, rest);
  for (float& value : rest) value = Body::Of(value);
  std::copy_n(rest, n - whole, values + whole);
}

struct ExpBody {
  static BP_NN_INLINE float Of(float x) { return ExpOf(x); }
};
struct GeluBody {
  static BP_NN_INLINE float Of(float x) { return x * 0.5f * (1.0f + ErfOfRoot(x)); }
};

struct Exponentials {
  float largest, sum;
};

// x = exp(x - max(x)).
template <Isa isa>
BP_NN_INLINE Exponentials ExpOfRow(int64_t n, float* x) {
  constexpr int64_t kWidth = kLanes<float, isa>;
  float lanes[kWidth];
  std::fill_n(lanes, kWidth, x[0]);
  int64_t i = 0;
  for (; i + kWidth <= n; i += kWidth) {
    for (int64_t j = 0; j < kWidth; ++j) lanes[j] = x[i + j] > lanes[j] ? x[i + j] : lanes[j];
  }
  for (int64_t j = 0; i + j < n; ++j) lanes[j] = x[i + j] > lanes[j] ? x[i + j] : lanes[j];
  float largest = lanes[0];
  for (int64_t j = 1; j < kWidth; ++j) largest = lanes[j] > largest ? lanes[j] : largest;
  for (i = 0; i < n; ++i) x[i] -= largest;
  EachInPlace<isa, ExpBody>(x, n);
  Vec<float, isa> next, sum = {};
  for (i = 0; i < n; i += kWidth) {
    LoadUpTo<isa>(x + i, n - i, 0, &next);
    sum += next;
  }
  return {largest, SumOf<isa>(sum)};
}

}  // namespace backplane::nn
