// Reference values: sums computed by hand in float64, and Stable-Baselines3's VecNormalize.
#include "normalizer.hpp"

#include <gtest/gtest.h>

namespace backplane::ppo {
namespace {

TEST(RunningMeanStd, AgreesWithTheReference) {
  RunningMeanStd stats(1);
  double mean = 2, m2 = 2;
  stats.Merge(3, &mean, &m2);
  mean = 5, m2 = 2;
  stats.Merge(2, &mean, &m2);
  EXPECT_NEAR(stats.mean(0), 3.19993600128, 1e-11);
  EXPECT_NEAR(stats.var(0), 2.96016559259, 1e-11);
  EXPECT_NEAR(stats.count(), 5.0001, 1e-12);
}

TEST(RewardNormalizer, AgreesWithStableBaselines) {
  RewardNormalizer norm(1, .99);
  const float rewards[] = {1, 2, 3, -1, .5}, want[] = {10, 2.009847769f, 1.471922258f, -.388978760f, .196454715f};
  for (int i = 0; i < 5; ++i) {
    float r = rewards[i];
    const uint8_t done = i == 2;
    norm.Step(&r, &done);
    EXPECT_NEAR(r, want[i], 1e-6) << "step " << i;
  }
  EXPECT_NEAR(norm.stats().var(0), 6.47761442679992, 1e-12);
}

TEST(RunningMeanStd, MergedPartsAreTheMomentsOfTheWhole) {
  const double x[] = {3, -1, 4, 1, -5, 9, 2, 6};
  const auto merge = [&](RunningMeanStd* stats, int from, int to) {
    double mean = 0, m2 = 0;
    for (int i = from; i < to; ++i) mean += x[i] / (to - from);
    for (int i = from; i < to; ++i) m2 += (x[i] - mean) * (x[i] - mean);
    stats->Merge(to - from, &mean, &m2);
  };
  RunningMeanStd whole(1), parts(1);
  merge(&whole, 0, 8);
  merge(&parts, 0, 3), merge(&parts, 3, 4), merge(&parts, 4, 8);
  EXPECT_NEAR(parts.mean(0), whole.mean(0), 1e-12);
  EXPECT_NEAR(parts.var(0), whole.var(0), 1e-12);
}

}  // namespace
}  // namespace backplane::ppo
