#include "statistics/robust.hpp"

#include <gtest/gtest.h>

#include "statistics/bootstrap.hpp"

namespace backplane::statistics {
namespace {

TEST(Robust, InterquartileMeanDropsAQuarterAtEachEnd) {
  EXPECT_DOUBLE_EQ(InterquartileMean(std::vector<double>{100, 2, 3, 4, 1}), 3);
  EXPECT_NEAR(InterquartileMean(std::vector<double>{1, 2, 100}), 34.333, 5e-4);  // three are too few to drop one
  EXPECT_DOUBLE_EQ(InterquartileMean(std::vector<double>{1, 2, 3, 4, 5, 6, 7, 100}), 4.5);
  EXPECT_DOUBLE_EQ(InterquartileMean(Tasks{{3258, 2794, 4102, 1017, 3566, 3890}}), 3377.0);
  EXPECT_DOUBLE_EQ(InterquartileMean(Tasks{{2501, 1875, 3120}, {2650, 990, 2275}}), 2325.25);  // over all tasks together
}

TEST(Robust, ProbabilityOfImprovementIsTheMeanOverTasks) {
  EXPECT_NEAR(ProbabilityOfImprovement({{1, 2, 2}}, {{2, 2, 3}}), 0.2222, 5e-5);
  EXPECT_DOUBLE_EQ(ProbabilityOfImprovement({{1}, {5, 5, 5}}, {{2}, {1}}), 0.5);
}

TEST(Robust, ProfileIsTheShareAbove) {
  EXPECT_EQ(PerformanceProfile({{1, 2}, {3, 4}}, {0, 1, 2.5, 4}), (std::vector<double>{1, 0.75, 0.5, 0}));
}

TEST(Robust, GapIsTheMissingScore) { EXPECT_DOUBLE_EQ(OptimalityGap({{1, 3}, {0}}, 2), 1); }

TEST(Bootstrap, SameSeedSameInterval) {
  const Tasks strata = {{1, 2, 4, 8, 16, 32, 64, 128, 256, 512}};
  const auto mean = [](const Tasks& drawn) { return InterquartileMean(drawn); };
  const auto once = StratifiedBootstrap(strata, mean, 7, 500), again = StratifiedBootstrap(strata, mean, 7, 500);
  EXPECT_EQ(once->low, again->low);
  EXPECT_EQ(once->high, again->high);
  EXPECT_NE(once->high, StratifiedBootstrap(strata, mean, 8, 500)->high);
}

// Scores near 10 and near 1000 in one stratum each: a resample that mixed them would go below 500.
TEST(Bootstrap, StaysInsideOfStrata) {
  const Tasks strata = {{10, 11, 12}, {1000, 1001, 1002}};
  const auto larger = [](const Tasks& drawn) { return drawn[1][0] - drawn[0][0]; };
  const auto interval = StratifiedBootstrap(strata, larger, 1, 1000);
  EXPECT_GE(interval->low, 988);
  EXPECT_LE(interval->high, 992);
}

TEST(Bootstrap, NeedsTwoScoresOfATask) {
  EXPECT_FALSE(StratifiedBootstrap(
                   {{1}, {2}}, [](const Tasks& drawn) { return InterquartileMean(drawn); }, 1)
                   .has_value());
  EXPECT_FALSE(ProfileBand({{1}, {2}}, {1.5}, 1).has_value());
}

TEST(Bootstrap, BandHoldsTheProfile) {
  const Tasks tasks = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}};
  const std::vector<double> thresholds = {0, 5.5, 10};
  const auto band = ProfileBand(tasks, thresholds, 1);
  ASSERT_TRUE(band.has_value());
  EXPECT_EQ(band->front().low, 1);
  EXPECT_EQ(band->back().high, 0);
  // 5 of ten trials are above: 2 to 8 in 95 % of all draws (binomial, n = 10, p = 0.5).
  EXPECT_NEAR((*band)[1].low, 0.2, 0.051);
  EXPECT_NEAR((*band)[1].high, 0.8, 0.051);
}

}  // namespace
}  // namespace backplane::statistics
