// Compares intervals and tests with SciPy.
#include "statistics/difference.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "goldens.hpp"
#include "statistics/student.hpp"

namespace backplane::statistics {
namespace {

void ExpectNear(double wanted, double found, const std::string& what) {
  EXPECT_NEAR(wanted, found, 1e-9 * std::max(1.0, std::abs(wanted))) << what;
}

void ExpectGolden(const goldens::Pair& golden, const std::optional<Difference>& found) {
  ASSERT_TRUE(found) << golden.what;
  ExpectNear(golden.t, found->t, golden.what);
  ExpectNear(golden.df, found->degrees_of_freedom, golden.what);
  ExpectNear(golden.p, found->p, golden.what);
  ExpectNear(golden.difference, found->value, golden.what);
  ExpectNear(golden.low, found->low, golden.what);
  ExpectNear(golden.high, found->high, golden.what);
}

TEST(Difference, WelchEqualsSciPy) {
  for (const goldens::Pair& golden : goldens::kWelch) ExpectGolden(golden, WelchDifference(golden.a, golden.b));
}

TEST(Difference, PairedEqualsSciPy) {
  ASSERT_FALSE(goldens::kPaired.empty());
  for (const goldens::Pair& golden : goldens::kPaired) ExpectGolden(golden, PairedDifference(golden.a, golden.b));
}

TEST(Difference, ProbabilityEqualsMannWhitney) {
  for (const goldens::Pair& golden : goldens::kWelch)
    ExpectNear(golden.probability_greater, ProbabilityGreater(golden.a, golden.b), golden.what);
  EXPECT_DOUBLE_EQ(0.2222222222222222, ProbabilityGreater({1, 2, 2}, {2, 2, 3})) << "by hand: two of nine, ties count half";
}

TEST(Difference, TheFiguresOfTheReferencePageAreThese) {
  const auto welch = WelchDifference({3258, 2794, 4102, 1017, 3566, 3890}, {2501, 1875, 3120, 2650, 990, 2275});
  ASSERT_TRUE(welch);
  EXPECT_NEAR(1.5862920889, welch->t, 1e-10);
  EXPECT_NEAR(8.6265107429, welch->degrees_of_freedom, 1e-10);
  EXPECT_NEAR(0.1485922468, welch->p, 1e-10);
  EXPECT_NEAR(-378.6237, welch->low, 5e-5);
  EXPECT_NEAR(2117.2904, welch->high, 5e-5);
}

TEST(Difference, NeedsTwoValuesAndSpread) {
  EXPECT_FALSE(WelchDifference({1}, {1, 2, 3}));
  EXPECT_FALSE(WelchDifference({1, 2}, {3}));
  EXPECT_FALSE(WelchDifference({0.1, 0.1, 0.1}, {0.3, 0.3, 0.3})) << "the sums are inexact";
  EXPECT_FALSE(PairedDifference({1, 2, 3}, {0, 1, 2})) << "each differs by one";
  EXPECT_FALSE(PairedDifference({1, 2, 3}, {0, 1}));
}

TEST(Difference, ReversesWithItsArms) {
  const auto there = WelchDifference({1, 2, 4}, {2, 5, 6, 9}), back = WelchDifference({2, 5, 6, 9}, {1, 2, 4});
  EXPECT_DOUBLE_EQ(there->low, -back->high);
  EXPECT_DOUBLE_EQ(there->p, back->p);
}

TEST(Student, QuantilesEqualTheTables) {
  EXPECT_NEAR(12.7062, StudentQuantile(0.975, 1), 5e-5);
  EXPECT_NEAR(4.30265, StudentQuantile(0.975, 2), 5e-6);
  EXPECT_NEAR(2.26216, StudentQuantile(0.975, 9), 5e-6);
  EXPECT_NEAR(2.04227, StudentQuantile(0.975, 30), 5e-6);
  EXPECT_NEAR(-2.04227, StudentQuantile(0.025, 30), 5e-6);
}

}  // namespace
}  // namespace backplane::statistics
