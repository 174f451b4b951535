// Reference values: rlax multistep_test.py, and sums computed by hand in float64.
#include "on_policy/gae.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace backplane::on_policy {
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

// A stream may be cut where an episode was cut, too. Each piece ends with the next value and carries no advantage; together
// they equal the whole stream.
TEST(Gae, CutsWithTheRightBootstrapsGiveTheWhole) {
  const Numbers r{1, .5, -1, 2, 0, 1}, v{.1, .2, -.3, .4, .5, -.6}, next{.2, -.3, 7, .5, -.6, .9}, discount(6, .99);
  Numbers carry(6, .99 * .95);
  carry[2] = 0;  // cut after the third step, bootstrapped with 7
  const auto part = [](const Numbers& x, int from, int to) { return Numbers(x.begin() + from, x.begin() + to); };
  const auto piece = [&](int from, int to) {
    return Advantages(part(r, from, to), part(v, from, to), part(next, from, to), part(discount, from, to),
                      part(carry, from, to));
  };
  Numbers pieces = piece(0, 3);
  for (double a : piece(3, 6)) pieces.push_back(a);
  EXPECT_THAT(pieces, Pointwise(DoubleNear(0), Advantages(r, v, next, discount, carry)));
}

// With lambda 1 a stream may be cut anywhere: the bootstrap is then the return of the rest.
TEST(Gae, WithLambdaOneAnyCutGivesTheWhole) {
  const Numbers r{1, 2, -3, 4, .5}, v{.5, -.5, .25, 1, 2}, next{-.5, .25, 1, 2, 3}, g(5, .9);
  const Numbers whole = Advantages(r, v, next, g, g);
  for (int cut = 1; cut < 5; ++cut) {
    Numbers first_next(next.begin(), next.begin() + cut);
    first_next.back() = whole[cut] + v[cut];  // return of the rest
    const auto head = [&](const Numbers& x) { return Numbers(x.begin(), x.begin() + cut); };
    EXPECT_THAT(Advantages(head(r), head(v), first_next, head(g), head(g)), Pointwise(DoubleNear(1e-12), head(whole))) << cut;
  }
}

TEST(Gae, StreamsLieStrideApartAndDoNotMix) {
  const Numbers r{1, 10, 2, 20}, v{0, 1, 2, 3}, next{2, 3, 4, 5}, g(4, .5);
  Numbers out(4, -1);
  for (int64_t row : {1, 0}) Gae(GaeStream<double>{2, 2, &r[row], &v[row], &next[row], &g[row], &g[row]}, &out[row]);
  for (int64_t row : {0, 1}) {
    const auto own = [&](const Numbers& x) { return Numbers{x[row], x[row + 2]}; };
    EXPECT_EQ(own(out), Advantages(own(r), own(v), own(next), own(g), own(g)));
  }
}

// The grid of Stable-Baselines3's tests/test_gae.py: a constant value, reward 1 at the end of each episode of 64 steps.
TEST(Gae, AgreesWithTheClosedFormOfStableBaselines) {
  constexpr int kSteps = 64;
  constexpr double kValue = 10;
  for (double lambda : {1.0, .9}) {
    for (double gamma : {1.0, .99}) {
      for (int episodes : {1, 3}) {
        Numbers r(kSteps * episodes), v(r.size(), kValue), discount(r.size(), gamma), carry(r.size(), gamma * lambda);
        for (int e = 1; e <= episodes; ++e) r[e * kSteps - 1] = 1, discount[e * kSteps - 1] = carry[e * kSteps - 1] = 0;
        const Numbers got = Advantages(r, v, v, discount, carry);
        for (size_t i = 0; i < r.size(); ++i) {
          const int left = kSteps - 1 - static_cast<int>(i) % kSteps;  // steps before the last one of the episode
          double want = std::pow(gamma * lambda, left) * (1 - kValue);
          for (int k = 0; k < left; ++k) want += std::pow(gamma * lambda, k) * (gamma - 1) * kValue;
          EXPECT_NEAR(got[i], want, 1e-10) << lambda << " " << gamma << " step " << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace backplane::on_policy
