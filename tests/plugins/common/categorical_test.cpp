// Sampled choices and their part of the loss, compared with reference values.
#include "on_policy/categorical.hpp"

#include <gtest/gtest.h>

#include "on_policy/clipped_loss.hpp"

namespace backplane::on_policy {
namespace {

const double kLogits[] = {1, 2, .5, -1};
const uint8_t kMask[] = {1, 0, 1, 1};

TEST(Categorical, MaskedChoicesAreNeverDrawn) {
  const float logits[] = {1, 2, .5f, -1};
  const uint8_t mask[] = {1, 0, 1, 1};
  const double logps[] = {-.5549569196420, 0, -1.0549569196420, -2.5549569196420};  // probabilities as listed below
  int count[4] = {};
  for (uint64_t i = 0; i < 20000; ++i) {
    bp_rng rng{i, 0};
    double logp;
    const int32_t choice = DrawCategorical(logits, mask, 4, &rng, &logp);
    EXPECT_NEAR(logp, logps[choice], 1e-12);
    ++count[choice];
  }
  EXPECT_EQ(count[1], 0);
  EXPECT_NEAR(count[0] / 20000.0, .5740969929677, .015);
  EXPECT_NEAR(count[2] / 20000.0, .3482074278837, .015);
}

TEST(Categorical, MaskedLogProbabilityAndEntropyAgreeWithTheReference) {
  // At ratio 1, the derivative by the logits is the log-probability's, times -A: 1 - p for the action taken, -p for the others.
  const double p[] = {.5740969929677, 0, .3482074278837, .0776955791486};
  double d[4];
  LossSums sums;
  CategoricalLoss<double>({kLogits, kMask, 4, 2, -1.0549569196420, -1}, .2, 0, 1, d, &sums);
  for (int k = 0; k < 4; ++k) EXPECT_NEAR(d[k], (k == 2) - p[k], 1e-12) << k;
  EXPECT_NEAR(sums.entropy, .8844517918810, 1e-12);
  EXPECT_NEAR(sums.kl, 0, 1e-12);
  EXPECT_NEAR(sums.policy, 1, 1e-12);
}

TEST(Categorical, WithoutAMaskAllCount) {
  double d[4];
  LossSums sums;
  CategoricalLoss<double>({kLogits, nullptr, 4, 1, -.4951818980859, -1}, .2, 0, 1, d, &sums);
  EXPECT_NEAR(sums.kl, 0, 1e-12);
  EXPECT_NEAR(sums.entropy, 1.0144027755026, 1e-12);
}

TEST(ValueLoss, IsHubersBeyondDelta) {
  LossSums sums;
  EXPECT_EQ(ValueLoss<double>(3, 0, 0, 0, 10, &sums), 3);
  EXPECT_EQ(sums.value, 4.5);
  EXPECT_EQ(ValueLoss<double>(-12, 0, 0, 0, 10, &sums), -10);
  EXPECT_EQ(sums.value, 4.5 + 70);
}

TEST(ValueLoss, IsTheLargerOfClippedAndFree) {
  LossSums sums;
  // The value moved from 1 to 3 towards the target 4: clipped it is 1.5, which is worse and has no slope.
  EXPECT_EQ(ValueLoss<double>(3, 1, 4, .5, 0, &sums), 0);
  EXPECT_EQ(sums.value, .5 * 2.5 * 2.5);
  EXPECT_EQ(ValueLoss<double>(3, 1, 0, .5, 0, &sums), 3);
}

}  // namespace
}  // namespace backplane::on_policy
