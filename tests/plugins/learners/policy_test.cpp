// Gaussian actions, as they are drawn.
#include <gtest/gtest.h>

#include <cmath>

#include "on_policy/gaussian.hpp"

namespace backplane::on_policy {
namespace {

TEST(Policy, GaussianLogProbabilityAgreesWithTheReference) {
  const float mean[] = {1, -1, .1f, -.1f}, x[] = {1.2f, -1.1f, -.1f, 0};
  const double std[] = {.1, .1, .2, .3};
  EXPECT_NEAR(GaussianLogp(x, mean, std, 2), .26729202, 1e-5);
  EXPECT_NEAR(GaussianLogp(x + 2, mean + 2, std + 2, 2), .41997814, 1e-5);
}

TEST(Policy, NormalsHaveTheMomentsOfTheNormalDistribution) {
  constexpr int kKeys = 4000, kEach = 7;
  double sum[4] = {}, neighbours = 0;
  for (int key = 0; key < kKeys; ++key) {
    double x[kEach];
    FillNormals(static_cast<uint64_t>(key), kEach, x);
    for (double value : x) {
      double power = 1;
      for (double& s : sum) s += power *= value;
    }
    for (int i = 1; i < kEach; ++i) neighbours += x[i] * x[i - 1];
  }
  constexpr double kN = kKeys * kEach;
  EXPECT_NEAR(sum[0] / kN, 0, 5 / std::sqrt(kN));
  EXPECT_NEAR(sum[1] / kN, 1, 5 * std::sqrt(2 / kN));
  EXPECT_NEAR(sum[2] / kN, 0, 5 * std::sqrt(15 / kN));
  EXPECT_NEAR(sum[3] / kN, 3, 5 * std::sqrt(96 / kN));
  EXPECT_NEAR(neighbours / kN, 0, 5 / std::sqrt(kN));
}

}  // namespace
}  // namespace backplane::on_policy
