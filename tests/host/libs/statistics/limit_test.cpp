// The side of a limit on which a change lies. bench/calibration.cpp measures the error rates.
#include "statistics/limit.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "backplane/rng.h"

namespace backplane::statistics {
namespace {

using Values = std::vector<double>;

const Values kBefore = {100, 102, 98, 101, 99, 100, 103, 97, 100, 100};

Values Moved(Values values, double factor) {
  for (double& value : values) value *= factor;
  return values;
}

TEST(Limit, FarChangeIsKnownAtTheFirstLook) {
  const LimitPlan plan{.n = 5, .looks = 2};
  const LimitTest worse = TestScores(kBefore, Moved(kBefore, 0.8), 1, plan);
  EXPECT_EQ(worse.side, Side::kBelow);
  EXPECT_EQ(worse.looks, 1u);
  EXPECT_EQ(worse.n, 5u);
  EXPECT_DOUBLE_EQ(worse.difference->value, -20);
  const LimitTest better = TestScores(kBefore, Moved(kBefore, 1.2), 1, plan);
  EXPECT_EQ(better.side, Side::kAbove);
  EXPECT_DOUBLE_EQ(better.difference->value, 20);
}

// 2 / C(8, 4) = 0.029 is below 2 x 0.05 / 2, the share of both sides at the first of two looks, and above 2 x 0.05 / 5.
TEST(Limit, EachSideHasAllOfAlpha) {
  const Values low = {1, 2, 3, 4, 1, 2, 3, 4}, high = {101, 102, 103, 104, 101, 102, 103, 104};
  EXPECT_EQ(TestScores(low, high, 1, {.n = 4, .looks = 2}).looks, 1u);
  EXPECT_EQ(TestScores(low, high, 1, {.n = 4, .looks = 5}).looks, 2u);
}

// The mean falls by 10: below a limit of 5 %, above one of 20 %. For the limit of 10 % the side is unknown.
TEST(Limit, IsAShareOfTheFirstMean) {
  const Values after = Moved(kBefore, 0.9);
  for (const LimitPlan& plan : {LimitPlan{.n = 5, .looks = 2}, LimitPlan{}}) {
    EXPECT_EQ(TestScores(kBefore, after, 0.95, plan).side, Side::kBelow);
    EXPECT_EQ(TestScores(kBefore, after, 0.8, plan).side, Side::kAbove);
    const LimitTest at = TestScores(kBefore, after, 0.9, plan);
    EXPECT_EQ(at.side, Side::kNotShown);
    EXPECT_EQ(at.n, 10u);
    EXPECT_NEAR(at.difference->value, 0, 1e-12);
  }
}

// One of C(6, 3) = 20 deals is as far above: 5 %, the share of one side. For both sides it would be 10 %.
TEST(Limit, OneLookTestsOneSide) {
  EXPECT_EQ(TestScores({1, 2, 3}, {14, 15, 16}, 1, {}).side, Side::kAbove);
  EXPECT_EQ(TestScores({14, 15, 16}, {1, 2, 3}, 1, {}).side, Side::kBelow);
  EXPECT_EQ(TestScores({14, 15, 16}, {1, 2, 3}, 1, {.alpha = 0.025}).side, Side::kNotShown);
  const LimitTest unequal = TestScores(kBefore, {80, 81, 82, 83}, 1, {});
  EXPECT_EQ(unequal.side, Side::kBelow);
  EXPECT_EQ(unequal.n, 4u);
}

TEST(Limit, ScoresWithoutSpreadHaveASide) {
  const Values all(10, 500);
  const LimitTest test = TestScores(all, all, 0.95, {.n = 5, .looks = 2});
  EXPECT_EQ(test.side, Side::kAbove);
  EXPECT_FALSE(test.difference.has_value());
  EXPECT_EQ(TestScores(all, all, 1, {.n = 5, .looks = 2}).side, Side::kNotShown);
}

// Nine equal scores and one far off: no deal of the look is as extreme, and Welch's interval contains 0.
TEST(Limit, NeedsTheAgreementOfWelch) {
  const LimitTest test = TestScores({0, 0, 0, 0, 0.0001}, {0.0002, 0.0002, 0.0002, 0.0002, 1000}, 1, {.n = 5, .looks = 1});
  EXPECT_EQ(test.side, Side::kNotShown);
  EXPECT_TRUE(test.unconfirmed);
}

TEST(Limit, IsUnknownBeforeTheFirstLook) {
  const LimitTest test = TestScores(kBefore, {1, 2, 3, 4}, 1, {.n = 5, .looks = 2});
  EXPECT_EQ(test.looks, 0u);
  EXPECT_EQ(test.side, Side::kNotShown);
  EXPECT_EQ(TestScores({}, {1}, 1, {}).looks, 0u);
}

// Negating all scores swaps the sides, and the scale does not matter.
TEST(Limit, SidesAreMirrorImages) {
  bp_rng rng{5, 0};
  size_t known = 0;
  for (int repeat = 0; repeat < 60; ++repeat) {
    Values a, b;
    for (int i = 0; i < 15; ++i) a.push_back(100 + 10 * bp_rng_normal(&rng)), b.push_back(93 + 10 * bp_rng_normal(&rng));
    const LimitPlan plan{.n = 5, .looks = 3, .seed = static_cast<uint64_t>(repeat)};
    const Side side = TestScores(a, b, 0.95, plan).side;
    const Side mirrored = TestScores(Moved(a, -1), Moved(b, -1), 0.95, plan).side;
    EXPECT_EQ(mirrored, side == Side::kAbove ? Side::kBelow : side == Side::kBelow ? Side::kAbove : side);
    EXPECT_EQ(TestScores(Moved(a, 1024), Moved(b, 1024), 0.95, plan).side, side);
    known += side != Side::kNotShown ? 1 : 0;
  }
  EXPECT_GT(known, 3u);
  EXPECT_LT(known, 50u);
}

Block Faster(double by, double noise) { return {100, 100 * by * (1 + noise), 100 * by, 100}; }

TEST(Limit, BlocksAreARatio) {
  const std::vector<std::vector<Block>> slower = {{Faster(0.9, 0.001), Faster(0.9, -0.002), Faster(0.9, 0.003)}};
  EXPECT_EQ(TestBlocks(slower, 1, {.looks = 1}).side, Side::kBelow);
  EXPECT_EQ(TestBlocks(slower, 0.95, {.looks = 1}).side, Side::kBelow);
  EXPECT_EQ(TestBlocks(slower, 0.8, {.looks = 1}).side, Side::kAbove);
  EXPECT_NEAR(TestBlocks(slower, 0.9, {.looks = 1}).difference->value, 0.001 / 3, 1e-4);
}

// The logs of one look are 0, 1 and 2: t = 1 / (1 / sqrt 3) = 1.732 with 2 degrees of freedom, one-sided p 0.1127 (SciPy).
TEST(Limit, BlocksShareAlphaAmongLooks) {
  std::vector<Block> look;
  for (const double log : {0.0, 1.0, 2.0}) look.push_back({1, std::exp(log), std::exp(log), 1});
  EXPECT_EQ(TestBlocks({look}, 1, {.looks = 1, .alpha = 0.113}).side, Side::kAbove);
  EXPECT_EQ(TestBlocks({look}, 1, {.looks = 1, .alpha = 0.112}).side, Side::kNotShown);
  EXPECT_EQ(TestBlocks({look}, 1, {.looks = 2, .alpha = 0.2255}).side, Side::kAbove);
  EXPECT_EQ(TestBlocks({look}, 1, {.looks = 2, .alpha = 0.2250}).side, Side::kNotShown);
  // A look whose blocks were all discarded counts as a look; one after the last does not.
  EXPECT_EQ(TestBlocks({{}, look, look}, 1, {.looks = 2, .alpha = 0.2255}).looks, 2u);
  EXPECT_EQ(TestBlocks({{}, {}}, 1, {.looks = 2}).n, 0u);
}

}  // namespace
}  // namespace backplane::statistics
