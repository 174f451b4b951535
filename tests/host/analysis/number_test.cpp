#include "analysis/number.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace backplane {
namespace {

TEST(Number, QuantilesOfStudentAreThoseOfTheTables) {
  EXPECT_NEAR(12.7062, StudentQuantile(0.975, 1), 5e-5);
  EXPECT_NEAR(4.30265, StudentQuantile(0.975, 2), 5e-6);
  EXPECT_NEAR(2.26216, StudentQuantile(0.975, 9), 5e-6);
  EXPECT_NEAR(2.04227, StudentQuantile(0.975, 30), 5e-6);
  EXPECT_NEAR(-2.04227, StudentQuantile(0.025, 30), 5e-6);
}

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

}  // namespace
}  // namespace backplane
