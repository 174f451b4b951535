// Gains and losses compared with values from SciPy.
#include "study/gain.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace backplane {
namespace {

// SciPy 1.17: logs about their groups' means have the standard deviation 0.022805464 with 13 degrees of freedom, and the
// interval of the last ratio is exp(log ratio +- stats.t.ppf(0.975, 13) * 0.022805464 * sqrt(1/4 + 1/4)).
const std::vector<Speeds> kMeasured = {
    {{100, 104}, {}}, {{101, 99, 103, 100}, {150, 146, 155, 152}}, {{149, 151, 147, 154}, {152, 150, 158, 149}}};

TEST(Gain, IsARatioWithTheSpreadOfAllMeasurements) {
  const Gain first = LastGain({kMeasured[0], kMeasured[1]}, 1);
  EXPECT_NEAR(first.ratio, 1.4960855, 1e-6);
  const Gain last = LastGain(kMeasured, 1);
  EXPECT_NEAR(last.ratio, 1.0131978, 1e-6);
  ASSERT_TRUE(last.interval);
  EXPECT_NEAR(last.interval->low, 0.9785079, 1e-6);
  EXPECT_NEAR(last.interval->high, 1.0491175, 1e-6);
  EXPECT_FALSE(last.IsShown());
  EXPECT_FALSE(last.IsShownLost());
  EXPECT_TRUE(first.IsShown());
}

TEST(Gain, IsInvertedForAMeasureThatShouldFall) {
  const std::vector<Speeds> halved = {{{2.0, 2.1, 1.9, 2.0}, {1.0, 1.05, 0.95, 1.0}}};
  EXPECT_NEAR(LastGain(halved, -1).ratio, 2, 1e-12);
  EXPECT_TRUE(LastGain(halved, -1).IsShown());
  EXPECT_TRUE(LastGain(halved, 1).IsShownLost());
}

TEST(Gain, IsNotShownByTooFewTrials) {
  const Gain gain = LastGain({{{100}, {}}, {{100, 101}, {300, 301}}}, 1);
  EXPECT_NEAR(gain.ratio, 2.99, 0.01);
  EXPECT_FALSE(gain.interval);
  EXPECT_FALSE(gain.IsShown());
}

TEST(Learned, IsWorseIfTheIntervalExcludesZeroInTheMeasuresDirection) {
  const std::vector<double> high = {10, 11, 9, 10.5, 9.5}, low = {5, 6, 4, 5.5, 4.5}, near = {10, 9, 10.5, 9, 11};
  EXPECT_TRUE(CompareLearning(high, low, 1).is_worse);
  EXPECT_FALSE(CompareLearning(low, high, 1).is_worse);
  EXPECT_TRUE(CompareLearning(low, high, -1).is_worse) << "a loss that rose";
  EXPECT_FALSE(CompareLearning(high, near, 1).is_worse);
  // scipy.stats.ttest_ind(low, high, equal_var=False).confidence_interval()
  const Learned learned = CompareLearning(high, low, 1);
  EXPECT_NEAR(learned.difference->value, -5, 1e-12);
  EXPECT_NEAR(learned.difference->low, -6.1530021, 1e-6);
  EXPECT_NEAR(learned.difference->high, -3.8469979, 1e-6);
}

TEST(Learned, ThreeSeedsGiveNoVerdict) {
  EXPECT_FALSE(CompareLearning({10, 10.1, 9.9}, {1, 1.1, 0.9}, 1).is_worse);
  EXPECT_EQ(CompareLearning({10, 10.1, 9.9}, {1, 1.1, 0.9}, 1).verdict, statistics::Verdict::kTooFew);
}

}  // namespace
}  // namespace backplane
