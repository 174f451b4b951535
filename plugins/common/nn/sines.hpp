// Sine and cosine of many small angles in vector code, with the bits of the C library's std::sin and std::cos.
//
// A series sums an angle into high + low, where high is the double next to the sum and low the remaining distance. If that is
// clearly below half a last place, then every library with an error of at most 0.55 last places returns `high`, because its
// next neighbour is further away. glibc guarantees 0.548 for these angles on every processor. The other angles (about one in
// ten per function), larger ones and NaN use the library. The algorithm needs sums and products rounded as written: compile
// with -ffp-contract=off.
#pragma once

#include <bit>
#include <cmath>

#include "nn/simd.hpp"

namespace backplane::nn {

constexpr int64_t kMostAngles = 256;  // of a call
constexpr double kMostOfAngle = 0.3;  // rad; larger angles would need more terms

namespace sines {

// Fraction of a last place within which `low` is trusted: 1 - 0.55, minus the error of the series.
constexpr double kTrusted = 0.449;

// The bits of |x| as an integer, which has the same order; NaN is larger than all numbers.
template <Isa isa>
BP_NN_INLINE void BitsOfSize(const Vec<double, isa>& x, Vec<int64_t, isa>* out) {
  *out = (Vec<int64_t, isa>)x & INT64_MAX;
}

// Angles for the library.
struct Doubts {
  uint16_t angle[kMostAngles + kMostLanes<double>];
  int64_t n = 0;

  // Adds the lanes from angle `first` on whose sign bit in `sure` is 0. Branchless, because the lanes are unpredictable.
  template <Isa isa>
  BP_NN_INLINE void Add(int64_t first, const Vec<int64_t, isa>& sure) {
    constexpr int64_t lanes = kLanes<int64_t, isa>;
    const auto signs = (Vec<uint64_t, isa>)sure >> 63;
    uint64_t is_sure[lanes];
    Store(signs, is_sure);
    for (int64_t i = 0; i < lanes; ++i) {
      angle[n] = static_cast<uint16_t>(first + i);
      n += 1 - static_cast<int64_t>(is_sure[i]);
    }
  }
};

// The sign bits of `sure` mark the lanes in which `out` equals the library's result.

// x^2 = square + rest: the upper half of x times itself is exact.
template <Isa isa>
BP_NN_INLINE void Square(const Vec<double, isa>& x, Vec<double, isa>* square, Vec<double, isa>* rest) {
  using Bits = Vec<int64_t, isa>;
  const auto upper = (Vec<double, isa>)((Bits)x & (Bits{} - (int64_t{1} << 27)));
  *square = upper * upper;
  *rest = (x - upper) * (x + upper);
}

template <Isa isa>
BP_NN_INLINE void Sine(const Vec<double, isa>& x, Vec<double, isa>* out, Vec<int64_t, isa>* sure) {
  using V = Vec<double, isa>;
  using Bits = Vec<int64_t, isa>;
  const V y = x * x;
  const V series = 1.0 / 120 - y * (1.0 / 5040 - y * (1.0 / 362880 - y * (1.0 / 39916800 - y * (1.0 / 6227020800))));
  const V change = x * y * (y * series - 1.0 / 6);
  const V high = x + change, low = (x - high) + change;
  const Bits bits = (Bits)high;
  const V place = (V)(bits & (int64_t{0x7ff} << 52)) * 0x1p-52;
  Bits far, off;
  BitsOfSize<isa>(low, &far), BitsOfSize<isa>(change, &off);
  *out = high;
  // `change` has four roundings. Below a power of two the spacing of doubles halves, so those lanes are never sure.
  const Bits is_power = (bits & ((int64_t{1} << 52) - 1)) - 1;
  *sure = (Bits)((V)far + (V)off * 0x1p-51 - kTrusted * place) & ~is_power;
}

// The cosines of small angles are in [0.5, 1], where a last place is 2^-53.
template <Isa isa>
BP_NN_INLINE void Cosine(const Vec<double, isa>& x, Vec<double, isa>* out, Vec<int64_t, isa>* sure) {
  using V = Vec<double, isa>;
  using Bits = Vec<int64_t, isa>;
  V square, rest;
  Square<isa>(x, &square, &rest);
  const V y = square + rest;
  const V series =
      1.0 / 24 - y * (1.0 / 720 - y * (1.0 / 40320 - y * (1.0 / 3628800 - y * (1.0 / 479001600 - y * (1.0 / 87178291200)))));
  const V half = 0.5 * square, change = y * y * series - 0.5 * rest;
  const V first = 1.0 - half, left = ((1.0 - first) - half) + change;
  const V high = first + left, low = (first - high) + left;
  *out = high;
  Bits far;
  BitsOfSize<isa>(low, &far);
  *sure = (Bits)((V)far - kTrusted * 0x1p-53);
}

}  // namespace sines

// sine[i] and cosine[i] of angle[i], i < n <= kMostAngles; n is a multiple of kLanes<double, isa>.
template <Isa isa>
BP_NN_INLINE void SinesAndCosines(const double* angle, int64_t n, double* sine, double* cosine) {
  using V = Vec<double, isa>;
  using Bits = Vec<int64_t, isa>;
  sines::Doubts of_sines, of_cosines;
  for (int64_t i = 0; i < n; i += kLanes<double, isa>) {
    V x, s, c;
    Load(angle + i, &x);
    Bits size, sure_sine, sure_cosine;
    sines::BitsOfSize<isa>(x, &size);
    const Bits small = size - std::bit_cast<int64_t>(kMostOfAngle);
    sines::Sine<isa>(x, &s, &sure_sine), sines::Cosine<isa>(x, &c, &sure_cosine);
    Store(s, sine + i), Store(c, cosine + i);
    of_sines.Add<isa>(i, sure_sine & small), of_cosines.Add<isa>(i, sure_cosine & small);
  }
  for (const uint16_t* i = of_sines.angle; i != of_sines.angle + of_sines.n; ++i) sine[*i] = std::sin(angle[*i]);
  for (const uint16_t* i = of_cosines.angle; i != of_cosines.angle + of_cosines.n; ++i) cosine[*i] = std::cos(angle[*i]);
}

}  // namespace backplane::nn
