// Reference figures: rlax multistep_test.py, and sums done by hand in float64.
#include "gae.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "mlp.hpp"
#include "normalizer.hpp"
#include "policy.hpp"

namespace backplane::ppo {
namespace {

using ::testing::DoubleNear;
using ::testing::Pointwise;
using Numbers = std::vector<double>;

Numbers Advantages(const Numbers& r, const Numbers& v, const Numbers& next, const Numbers& discount, const Numbers& carry) {
  Numbers out(r.size());
  Gae(GaeStream<double>{static_cast<int64_t>(r.size()), 1, r.data(), v.data(), next.data(), discount.data(), carry.data()},
      out.data());
  return out;
}

Numbers Rlax(const Numbers& r, const Numbers& v, const Numbers& gamma, double lambda) {
  Numbers carry;
  for (double g : gamma) carry.push_back(g * lambda);
  return Advantages(r, {v.begin(), v.end() - 1}, {v.begin() + 1, v.end()}, gamma, carry);
}

TEST(Gae, AgreesWithRlax) {
  const Numbers r0{0, 0, 1, 0, -.5}, v0{1, 4, -3, -2, -1, -1}, g0{.99, .99, .99, .99, .99};
  const Numbers r1{0, 0, 0, 0, 1}, v1{-3, -2, -1, 0, 5, -1}, g1{.9, .9, .9, 0, .9};
  const auto near = [](const Numbers& want) { return Pointwise(DoubleNear(1e-8), want); };
  EXPECT_THAT(Rlax(r0, v0, g0, 1), near({-1.451188055, -4.45574551, 2.539651, .5249, -.49}));
  EXPECT_THAT(Rlax(r1, v1, g1, 1), near({3, 2, 1, 0, -4.9}));
  EXPECT_THAT(Rlax(r0, v0, g0, .7), near({-.676979497, -5.248166663, 2.48460799, .67043, -.49}));
  EXPECT_THAT(Rlax(r1, v1, g1, .7), near({2.2899, 1.73, 1, 0, -4.9}));
  EXPECT_THAT(Rlax(r0, v0, g0, .4), near({.567318731, -6.042124417, 2.34312016, .81596, -.49}));
  EXPECT_THAT(Rlax(r1, v1, g1, .4), near({1.7256, 1.46, 1, 0, -4.9}));
}

Numbers Ended(bool truncation_is_terminal) {
  const Numbers r{1, .5, -1, 2, 0, 1, .25, -.5}, v{.1, .2, -.3, .4, .5, -.6, .7, .8};
  Numbers next{.2, -.3, .4, .5, -.6, 2.0, .8, .9}, discount(8, .99), carry(8, .99 * .95);
  discount[2] = carry[2] = carry[5] = 0;
  if (truncation_is_terminal) discount[5] = 0;
  return Advantages(r, v, next, discount, carry);
}

TEST(Gae, BootstrapsTruncatedButNotTerminatedEpisodes) {
  EXPECT_THAT(Ended(false),
              Pointwise(DoubleNear(1e-8), Numbers{.481643325, -.65535, -.7, 4.232747095, 2.27299, 3.58, -.0426645, -.409}));
}

TEST(Gae, TruncationAsTerminalGivesOtherFigures) {
  const Numbers wrong = Ended(true);
  EXPECT_NEAR(wrong[3], 2.4813574, 1e-8);
  EXPECT_NEAR(wrong[4], .4108, 1e-8);
  EXPECT_NEAR(wrong[5], 1.6, 1e-8);
}

TEST(Gae, LambdaOneIsDiscountedReturnMinusValue) {
  const Numbers r{1, 2, 3}, v{.5, -.5, .25};
  const Numbers a = Advantages(r, v, {-.5, .25, 2}, Numbers(3, .9), Numbers(3, .9));
  EXPECT_NEAR(a[0], 1 + .9 * 2 + .81 * 3 + .729 * 2 - .5, 1e-12);
}

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

TEST(Mlp, TanhIsCloseToTheLibrarys) {
  for (float x = -12; x < 12; x += 0.013f) {
    float y = x;
    TanhInPlace(&y, 1);
    EXPECT_NEAR(y, std::tanh(x), 4e-7) << x;
  }
}

TEST(Mlp, FirstWeightsAreOrthogonal) {
  const Net net(3, {5}, 2, true, Activation::kTanh);
  std::vector<float> p(net.size);
  InitParams(net, 1, true, 0, p.data());
  for (int a = 0; a < 3; ++a) {
    for (int b = 0; b < 3; ++b) {
      double dot = 0;
      for (int j = 0; j < 5; ++j) dot += p[a * 5 + j] * p[b * 5 + j];
      EXPECT_NEAR(dot, a == b ? 2 : 0, 1e-6);
    }
  }
}

TEST(Policy, GaussianLogProbabilityAgreesWithTheReference) {
  const float mean[] = {1, -1}, x[] = {1.2f, -1.1f}, log_std[] = {std::log(.1f), std::log(.1f)};
  EXPECT_NEAR(GaussianLogp(x, mean, log_std, 2), .26729202, 1e-5);
}

TEST(Policy, MaskedChoicesAreNeverDrawn) {
  const float logits[] = {1, 2, .5f, -1};
  const uint8_t mask[] = {1, 0, 1, 1};
  int count[4] = {};
  for (uint64_t i = 0; i < 20000; ++i) {
    bp_rng rng{i, 0};
    double logp;
    ++count[DrawCategorical(logits, mask, 4, &rng, &logp)];
  }
  EXPECT_EQ(count[1], 0);
  EXPECT_NEAR(count[0] / 20000.0, .5740969929677, .015);
  EXPECT_NEAR(count[2] / 20000.0, .3482074278837, .015);
}

}  // namespace
}  // namespace backplane::ppo
