#include "statistics/log_speed.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "goldens.hpp"

namespace backplane::statistics {
namespace {

TEST(LogSpeed, PoolsLikeAnAnalysisOfVariance) {
  const PooledSpread spread = PoolLogs(goldens::kSpeeds);
  EXPECT_NEAR(goldens::kPooledSd, spread.sd, 1e-9);
  EXPECT_EQ(goldens::kPooledDegrees, static_cast<double>(spread.degrees_of_freedom));
  EXPECT_TRUE(spread.is_enough());
}

TEST(LogSpeed, IntervalsEqualSciPysStudent) {
  const PooledSpread spread = PoolLogs(goldens::kSpeeds);
  const double mean = GeometricMean(goldens::kSpeeds[0]);
  EXPECT_NEAR(goldens::kMeanOfFirst, mean, 1e-9 * mean);
  const auto rate = RateInterval(mean, 2, spread);
  ASSERT_TRUE(rate);
  EXPECT_NEAR(goldens::kFirstLow, rate->low, 1e-9 * mean);
  EXPECT_NEAR(goldens::kFirstHigh, rate->high, 1e-9 * mean);
  const auto ratio = RatioInterval(GeometricMean(goldens::kSpeeds[1]) / mean, 3, 2, spread);
  ASSERT_TRUE(ratio);
  EXPECT_NEAR(goldens::kRatioLow, ratio->low, 1e-9);
  EXPECT_NEAR(goldens::kRatioHigh, ratio->high, 1e-9);
}

TEST(LogSpeed, TooFewDegreesOfFreedomGiveNoInterval) {
  const PooledSpread three = PoolLogs({{1, 2}, {3, 4}, {5, 6}, {7}});
  EXPECT_EQ(3u, three.degrees_of_freedom);
  EXPECT_FALSE(RateInterval(1, 2, three));
  EXPECT_EQ(0, PoolLogs({{1}, {2}}).sd) << "no group has two values";
  EXPECT_FALSE(RatioInterval(1, 2, 2, three));
  EXPECT_TRUE(RateInterval(7, 1, PoolLogs({{1, 2}, {3, 4}, {5, 6}, {7, 8}})));
}

TEST(LogSpeed, NoBoundIsNegative) {
  const PooledSpread wild = PoolLogs({{1, 1e6}, {1, 1e5}, {2, 1e4}, {1, 10}});
  EXPECT_GT(RateInterval(10, 1, wild)->low, 0);
  EXPECT_GT(RatioInterval(1, 1, 1, wild)->low, 0);
  EXPECT_GT(RatioOfMeans(1, 50, 2, 1, 50, 2)->low, 0);
}

// Logarithms of 0, 0.01 and 0.02 have a standard deviation of 0.01; Student's t of 2 degrees of freedom is 4.302652729911275.
TEST(LogSpeed, HalfWidthEqualsStudentsInterval) {
  const std::vector<double> rates = {1000, 1000 * std::exp(0.01), 1000 * std::exp(0.02)};
  ASSERT_TRUE(HalfWidthPct(rates));
  EXPECT_NEAR(100 * (std::exp(4.302652729911275 * 0.01 / std::sqrt(3)) - 1), *HalfWidthPct(rates), 1e-9);
  EXPECT_EQ(0, *HalfWidthPct({7, 7}));
  EXPECT_FALSE(HalfWidthPct({1000}));
  EXPECT_FALSE(HalfWidthPct({}));
}

// If nothing differs, the interval of a ratio excludes 1 at its nominal rate.
TEST(LogSpeed, IntervalOfARatioHasItsNominalCoverage) {
  std::mt19937_64 generator(20);
  std::normal_distribution<double> noise(0, 0.05);
  constexpr int kRepeats = 20000;
  int outside = 0;
  for (int i = 0; i < kRepeats; ++i) {
    std::vector<std::vector<double>> groups(6, std::vector<double>(2));
    for (size_t g = 0; g < groups.size(); ++g) {
      for (double& rate : groups[g]) rate = 1000 * static_cast<double>(g + 1) * std::exp(noise(generator));
    }
    const auto ratio = RatioInterval(GeometricMean(groups[1]) / GeometricMean(groups[0]), 2, 2, PoolLogs(groups));
    outside += ratio->low > 2 || ratio->high < 2 ? 1 : 0;
  }
  EXPECT_NEAR(0.05, static_cast<double>(outside) / kRepeats, 0.005);
}

TEST(LogSpeed, RatioOfMeansHasWelchsIntervalToFirstOrder) {
  // By hand: relative errors 0.01 and 0.01, so sqrt(2) %, with (2e-4)^2 / (1e-8 / 4 + 1e-8 / 4) = 8 degrees of freedom.
  const double sd = 0.01 * std::sqrt(5), half = 2.306004135204166 * std::sqrt(2) * 0.01;
  const auto ratio = RatioOfMeans(200, 200 * sd, 5, 100, 100 * sd, 5);
  ASSERT_TRUE(ratio);
  EXPECT_NEAR(2 * std::exp(-half), ratio->low, 1e-9);
  EXPECT_NEAR(2 * std::exp(half), ratio->high, 1e-9);
  EXPECT_FALSE(RatioOfMeans(-1, 1, 5, 1, 1, 5));
  EXPECT_FALSE(RatioOfMeans(1, 1, 1, 1, 1, 5));
}

}  // namespace
}  // namespace backplane::statistics
