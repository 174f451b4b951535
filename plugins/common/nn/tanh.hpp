// tanh of a register, for bodies that Dispatch runs (simd.hpp).
#pragma once

#include "nn/simd.hpp"

namespace backplane::nn {

// Eigen's rational approximation (ptanh_float), within a few units in the last place. NaN stays NaN.
template <Isa isa>
BP_NN_INLINE void TanhOf(Vec<float, isa>* value) {
  using V = Vec<float, isa>;
  V x = *value;
  const V limit = V{} + 7.90531110763549805f;
  x = x > limit ? limit : x;
  x = x < -limit ? -limit : x;
  const V s = x * x;
  V p = s * -2.76076847742355e-16f + 2.00018790482477e-13f;
  p = p * s - 8.60467152213735e-11f;
  p = p * s + 5.12229709037114e-08f;
  p = p * s + 1.48572235717979e-05f;
  p = p * s + 6.37261928875436e-04f;
  p = p * s + 4.89352455891786e-03f;
  V q = s * 1.19825839466702e-06f + 1.18534705686654e-04f;
  q = q * s + 2.26843463243900e-03f;
  q = q * s + 4.89352518554385e-03f;
  *value = x * p / q;
}

}  // namespace backplane::nn
