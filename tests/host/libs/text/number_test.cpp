#include "text/number.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace backplane {
namespace {

TEST(Number, AMeanHasItsSpreadAndInterval) {
  const Number number = Mean({1, 2, 3}, "seeds");
  EXPECT_EQ(2, number.value);
  EXPECT_EQ(3u, number.n);
  EXPECT_EQ("seeds", number.of);
  EXPECT_DOUBLE_EQ(1, *number.sd);
  EXPECT_NEAR(2 - 4.30265 / std::sqrt(3), *number.low, 1e-5);
  EXPECT_NEAR(2 + 4.30265 / std::sqrt(3), *number.high, 1e-5);
}

TEST(Number, OneValueHasNoSpread) {
  const Number number = Mean({7}, "seeds");
  EXPECT_EQ(7, number.value);
  EXPECT_FALSE(number.sd);
  EXPECT_FALSE(number.low);
}

TEST(Number, AValueThatIsNotFiniteMakesNoInterval) {
  const Number number = Mean({1, std::nan(""), 3}, "seeds");
  EXPECT_TRUE(std::isnan(number.value));
  EXPECT_EQ(3u, number.n);
  EXPECT_FALSE(number.sd);
  EXPECT_FALSE(number.high);
}

TEST(Number, ARateOfTwoSeedsHasNoBoundBelowZero) {
  Number a = Reading(3.18), b = Reading(4.22);
  const Number plain = *OverSeeds({a, b});
  EXPECT_LT(*plain.low, 0) << "values that may be negative, such as returns, keep a symmetric interval";
  a.is_rate = b.is_rate = true;
  const Number mean = *OverSeeds({a, b});
  EXPECT_DOUBLE_EQ(3.7, mean.value);
  // By hand: 3.7 exp(-+ 12.706 x 0.7354 / 3.7 / sqrt(2)).
  EXPECT_NEAR(0.62039, *mean.low, 1e-4);
  EXPECT_NEAR(22.0667, *mean.high, 1e-3);
}

TEST(Number, TheIntervalOfATimeEndsAtZero) {
  Number a = Reading(3.18), b = Reading(4.22);
  a.is_time = b.is_time = true;
  EXPECT_EQ(0, *OverSeeds({a, b})->low);
  // By hand: 3.7 + 12.706 x 0.7354 / sqrt(2).
  EXPECT_NEAR(10.3073, *OverSeeds({a, b})->high, 1e-3);
  b.value = 3.2;
  EXPECT_NEAR(3.19 - 12.706205 * 0.01, *OverSeeds({a, b})->low, 1e-5) << "unchanged if it does not reach zero";
}

TEST(Number, ARatioHasNoNegativeBound) {
  // By hand: relative errors of 1 and 0.1 / sqrt(2) with 2 values each, so 1.01 degrees of freedom.
  const Number ratio = RatioOf(MeanOf(10, 14.142135623730951, 2, "seeds"), MeanOf(5, 0.7071067811865476, 2, "seeds"), 100);
  EXPECT_DOUBLE_EQ(200, ratio.value);
  EXPECT_GT(*ratio.low, 0);
  EXPECT_NEAR(200 * 200, *ratio.low * *ratio.high, 1e-6) << "as far below as above, by logarithm";
  EXPECT_FALSE(RatioOf(Reading(10), MeanOf(5, 1, 2, "seeds")).low);
  EXPECT_FALSE(RatioOf(MeanOf(-1, 1, 2, "seeds"), MeanOf(5, 1, 2, "seeds")).low);
}

}  // namespace
}  // namespace backplane
