// Standard normals in bulk, compared with the definition in double.
#include "nn/normals.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "backplane/rng.h"

namespace backplane::nn {
namespace {

std::vector<float> Normals(uint64_t key, int64_t begin, int64_t n) {
  std::vector<float> out(n);
  FillNormals(key, begin, n, out.data());
  return out;
}

// Blocks 16 g .. 16 g + 15 of Philox make run g: cosines of words 0 and 1, their sines, then words 2 and 3.
TEST(Normals, AreBoxMullerOfPhiloxBlocks) {
  const std::vector<float> out = Normals(0x1234567890, 0, 640);
  for (uint32_t block = 0; block < 160; ++block) {
    const uint32_t counter[4] = {block, 0, 0, 0}, key[2] = {0x34567890, 0x12};
    uint32_t words[4];
    bp_philox4x32(counter, key, words);
    for (uint32_t half = 0; half < 4; half += 2) {
      const double radius = std::sqrt(-2 * std::log((words[half] / 256 + .5) / 16777216));
      const double angle = 2 * M_PI * static_cast<int32_t>(words[half + 1]) / 4294967296.0;
      const uint32_t at = block / 16 * 64 + half * 16 + block % 16;
      EXPECT_NEAR(out[at], radius * std::cos(angle), 3e-5);
      EXPECT_NEAR(out[at + 16], radius * std::sin(angle), 3e-5);
    }
  }
}

TEST(Normals, EqualTheGeneratorInBulk) {
  bp_rng one{0x1234567890, 5}, bulk = one;
  for (const int64_t n : {1, 8, 19, 100}) {
    std::vector<double> out(n);
    FillNormals(&bulk, n, out.data());
    for (int64_t i = 0; i < n; ++i) ASSERT_EQ(out[i], bp_rng_normal(&one)) << i << " of " << n;
    ASSERT_EQ(bulk.n, one.n);
  }
}

TEST(Normals, AreAFunctionOfKeyAndPlace) {
  const std::vector<float> whole = Normals(7, 0, 1000);
  for (int64_t begin : {0, 64, 448}) {
    const std::vector<float> part = Normals(7, begin, 200);
    EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + begin)) << begin;
  }
  EXPECT_NE(whole, Normals(8, 0, 1000));
}

// Positions beyond the 32 bits of the counter's first word.
TEST(Normals, ContinueBeyondTheFirstWordOfTheCounter) {
  const int64_t wrap = int64_t{4} << 32;
  EXPECT_NE(Normals(7, wrap, 64), Normals(7, 0, 64));
}

TEST(Normals, HaveTheMomentsOfTheNormalDistribution) {
  constexpr int64_t kCount = 1 << 20;
  double sums[4] = {}, largest = 0;
  for (double x : Normals(1, 0, kCount)) {
    for (int power = 0; power < 4; ++power) sums[power] += std::pow(x, power + 1) / kCount;
    largest = std::max(largest, std::abs(x));
  }
  EXPECT_NEAR(sums[0], 0, .004);  // four standard errors each
  EXPECT_NEAR(sums[1], 1, .006);
  EXPECT_NEAR(sums[2], 0, .015);
  EXPECT_NEAR(sums[3], 3, .04);
  EXPECT_GT(largest, 4.3);
  EXPECT_LT(largest, 5.9);
}

}  // namespace
}  // namespace backplane::nn
