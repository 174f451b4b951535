#include "statistics/sequential.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "backplane/rng.h"
#include "statistics/blocks.hpp"
#include "statistics/equivalence.hpp"

namespace backplane::statistics {
namespace {

using Scores = std::vector<double>;
using Plan = GroupSequentialTest::Plan;

Scores Normal(bp_rng* rng, size_t n, double mean = 0) {
  Scores out;
  for (size_t i = 0; i < n; ++i) out.push_back(mean + bp_rng_normal(rng));
  return out;
}

TEST(GroupSequential, StopsAtTheFirstLookForArmsFarApart) {
  GroupSequentialTest test({.looks = 5});
  EXPECT_TRUE(test.Look({11, 12, 13, 14, 15}, {1, 2, 3, 4, 5}));
  EXPECT_TRUE(test.different());
  EXPECT_DOUBLE_EQ(test.difference(), 10);
  EXPECT_FALSE(test.Look({1, 2, 3, 4, 5}, {1, 2, 3, 4, 5}));  // already decided
  EXPECT_EQ(test.looks(), 1u);
}

// 2 / C(8, 4) = 0.029 is above 0.05 / 5: the first look cannot stop, however far the arms are apart.
TEST(GroupSequential, FourScoresCannotStopTheFirstOfFiveLooks) {
  EXPECT_EQ(GroupSequentialTest::LeastScores(5, 0.05), 5u);
  EXPECT_EQ(GroupSequentialTest::LeastScores(3, 0.05), 5u);
  EXPECT_EQ(GroupSequentialTest::LeastScores(1, 0.05), 4u);
  GroupSequentialTest test({.looks = 5});
  test.Look({101, 102, 103, 104}, {1, 2, 3, 4});
  EXPECT_FALSE(test.different());
  test.Look({101, 102, 103, 104}, {1, 2, 3, 4});
  EXPECT_TRUE(test.different());
}

TEST(GroupSequential, FindsNoDifferenceOfEqualArms) {
  GroupSequentialTest test({.looks = 3});
  const Scores same = {1, 2, 3, 4, 5};
  for (int look = 0; look < 3; ++look) EXPECT_TRUE(test.Look(same, same));
  EXPECT_FALSE(test.different());
  EXPECT_FALSE(test.Look(same, same));
  EXPECT_EQ(test.difference(), 0);
}

TEST(GroupSequential, NeitherTheSignNorAShiftMatters) {
  bp_rng rng{3, 0};
  for (int trial = 0; trial < 40; ++trial) {
    GroupSequentialTest test({.looks = 4, .deals = 1000}), mirrored({.looks = 4, .deals = 1000}),
        shifted({.looks = 4, .deals = 1000});
    for (int look = 0; look < 4; ++look) {
      const Scores a = Normal(&rng, 6, 1), b = Normal(&rng, 6);
      Scores a_far = a, b_far = b;
      for (double& score : a_far) score += 512;
      for (double& score : b_far) score += 512;
      const bool both = test.Look(a, b) && mirrored.Look(b, a);
      shifted.Look(a_far, b_far);
      EXPECT_EQ(test.different(), shifted.different());
      if (both) {
        EXPECT_NEAR(test.difference(), -mirrored.difference(), 1e-12);
      }
    }
  }
}

// 400 comparisons of equal arms at 5 %: 20 expected, 33 is 3 standard deviations above. Comparing |D| with a quantile of the
// signed D finds about 40. scripts/bench calibration has the whole table.
TEST(GroupSequential, FalsePositivesOccurAtTheRateOfAlpha) {
  bp_rng rng{20261124, 0};
  int told = 0;
  for (uint64_t repeat = 0; repeat < 400; ++repeat) {
    GroupSequentialTest test({.looks = 5, .deals = 1000, .seed = repeat});
    while (test.Look(Normal(&rng, 5), Normal(&rng, 5))) continue;
    told += test.different();
  }
  EXPECT_GE(told, 7);
  EXPECT_LE(told, 33);
}

TEST(Blocks, ADriftInAStraightLineCancels) {
  // Each rate falls by 4 % of the first, and B is 1.05 times as fast: in logarithms the drift is straight up to second order.
  const auto block = [](double start) {
    return Block{start, 1.05 * start * std::exp(-0.04), 1.05 * start * std::exp(-0.08), start * std::exp(-0.12)};
  };
  EXPECT_NEAR(LogRatio(block(100)), std::log(1.05), 1e-12);
  const auto difference = BlockDifference({block(100), {90, 99, 97, 91}, {95, 98, 99, 94}});
  ASSERT_TRUE(difference.has_value());
  EXPECT_GT(difference->value, 0);
  EXPECT_EQ(difference->degrees_of_freedom, 2);
  EXPECT_FALSE(BlockDifference({block(100)}).has_value());
}

TEST(Equivalence, IsShownInsideOfTheMarginOnly) {
  const auto difference = WelchDifference({100, 101, 99, 100.5, 99.5}, {100.2, 100.9, 99.3, 100.1, 99.8});
  EXPECT_TRUE(TwoOneSided(*difference, 2).shown());
  EXPECT_FALSE(TwoOneSided(*difference, 0.5).shown());
  // At the margin that just contains its 90 % interval, p is 5 %.
  const Equivalence wide = TwoOneSided(*difference, 1);
  EXPECT_NEAR(TwoOneSided(*difference, std::max(-wide.low, wide.high)).p, 0.05, 1e-9);
}

}  // namespace
}  // namespace backplane::statistics
