#include <gtest/gtest.h>

#include "mujoco/numpy.hpp"

namespace {

// np.sum of 1 / (i + 1), numpy 2.
TEST(NumpySum, AddsInNumpysOrder) {
  const struct {
    int n;
    float f32;
    double f64;
  } kSums[] = {{7, 0x1.4be2c00000000p+1f, 0x1.4be2be2be2be2p+1},   {8, 0x1.5be2c00000000p+1f, 0x1.5be2be2be2be2p+1},
               {17, 0x1.b843440000000p+1f, 0x1.b84341cecee4cp+1},  {84, 0x1.40e4f00000000p+2f, 0x1.40e4ef27a45c7p+2},
               {128, 0x1.5bb8b00000000p+2f, 0x1.5bb8ae9541ca7p+2}, {129, 0x1.5c37b40000000p+2f, 0x1.5c37b09149ba9p+2},
               {300, 0x1.92172e0000000p+2f, 0x1.92172a3e6965ap+2}, {1000, 0x1.df11f80000000p+2f, 0x1.df11f45f4e61ap+2}};
  for (const auto& [n, f32, f64] : kSums) {
    EXPECT_EQ(mj::Sum<float>(0, n, [](int i) { return 1.0f / (static_cast<float>(i) + 1.0f); }), f32) << n;
    EXPECT_EQ(mj::Sum<double>(0, n, [](int i) { return 1.0 / (i + 1.0); }), f64) << n;
  }
}

}  // namespace
