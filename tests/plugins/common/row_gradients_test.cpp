// Compares gradients of rows with finite differences in double precision.
#include "nn/row_gradients.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "backplane/rng.h"
#include "nn/rowwise.hpp"

namespace backplane::nn {
namespace {

constexpr int64_t kLengths[] = {1, 3, 15, 16, 17, 40, 257};  // around multiples of a register's length
constexpr float kEpsilon = 1e-5f;

using Doubles = std::vector<double>;
using Floats = std::vector<float>;

Floats Normals(int64_t n, uint64_t key) {
  bp_rng rng{key, 0};
  Floats values(static_cast<size_t>(n));
  for (float& x : values) x = static_cast<float>(bp_rng_normal(&rng));
  return values;
}

double Dot(const Floats& a, const Doubles& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }

// The derivative of the sum of f's results, weighted by `at`, with respect to each x.
Doubles Differences(const Floats& x, const Floats& at, const std::function<Doubles(const Doubles&)>& f) {
  Doubles point(x.begin(), x.end()), slopes;
  for (double& each : point) {
    const double middle = each, step = 1e-5;
    each = middle + step;
    const double above = Dot(at, f(point));
    each = middle - step;
    slopes.push_back((above - Dot(at, f(point))) / (2 * step));
    each = middle;
  }
  return slopes;
}

void ExpectNear(const float* found, const Doubles& wanted, double bar) {
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(found[i], wanted[i], bar) << i << " of " << wanted.size();
}

Doubles SoftmaxOf(const Doubles& x) {
  Doubles shares;
  double sum = 0;
  for (const double each : x) shares.push_back(std::exp(each)), sum += shares.back();
  for (double& share : shares) share /= sum;
  return shares;
}

Doubles NormOf(const Doubles& x) {
  const auto n = static_cast<double>(x.size());
  const double mean = std::accumulate(x.begin(), x.end(), 0.0) / n;
  double variance = 0;
  for (const double each : x) variance += (each - mean) * (each - mean) / n;
  Doubles hat;
  for (const double each : x) hat.push_back((each - mean) / std::sqrt(variance + kEpsilon));
  return hat;
}

TEST(RowGradients, SoftmaxMatchesFiniteDifferences) {
  for (const int64_t n : kLengths) {
    const Floats x = Normals(n, 1), at = Normals(n, 2);
    Floats shares(2 * x.size()), d = shares;  // two equal rows
    for (size_t i = 0; i < shares.size(); ++i) shares[i] = x[i % x.size()], d[i] = at[i % at.size()];
    Softmax(2, n, shares.data());
    SoftmaxBackward(shares.data(), 2, n, d.data());
    const Doubles wanted = Differences(x, at, SoftmaxOf);
    ExpectNear(d.data(), wanted, 1e-6), ExpectNear(d.data() + n, wanted, 1e-6);
  }
}

TEST(RowGradients, AScaledSoftmaxReturnsTheLogarithmOfItsSum) {
  for (const int64_t n : kLengths) {
    Floats x = Normals(n, 3);
    const Doubles shares = SoftmaxOf({x.begin(), x.end()});
    const double first = x[0];
    EXPECT_NEAR(ScaledSoftmax(n, .25f, x.data()), first - std::log(shares[0]), 1e-6);
    Doubles quarters;
    for (const double share : shares) quarters.push_back(share / 4);
    ExpectNear(x.data(), quarters, 1e-6);
  }
}

TEST(RowGradients, TheNormOfASumMatchesFiniteDifferences) {
  for (const int64_t n : kLengths) {
    const Floats x = Normals(2 * n, 4), y = Normals(2 * n, 5), weight = Normals(n, 6), bias = Normals(n, 7),
                 at = Normals(2 * n, 8);
    Floats hat = y, scales(2), out(y.size()), d = at, d_weight(weight.size(), 1), d_bias(weight.size(), 2);
    AddLayerNorm(x.data(), weight.data(), bias.data(), kEpsilon, 2, n, hat.data(), scales.data(), out.data());
    LayerNormBackward(hat.data(), scales.data(), weight.data(), 2, n, d.data(), d_weight.data(), d_bias.data());
    Doubles of_weight(weight.size(), 1), of_bias(weight.size(), 2);
    for (int64_t row = 0; row < 2; ++row) {
      Floats sum, from(at.begin() + row * n, at.begin() + (row + 1) * n);
      for (int64_t i = row * n; i < (row + 1) * n; ++i) sum.push_back(x[static_cast<size_t>(i)] + y[static_cast<size_t>(i)]);
      const auto layer_norm = [&](const Doubles& of) {
        Doubles normed = NormOf(of);
        for (size_t i = 0; i < normed.size(); ++i) normed[i] = normed[i] * weight[i] + bias[i];
        return normed;
      };
      const Doubles norm = NormOf({sum.begin(), sum.end()});
      ExpectNear(hat.data() + row * n, norm, 1e-5),
          ExpectNear(out.data() + row * n, layer_norm({sum.begin(), sum.end()}), 1e-5);
      // The root amplifies the rounding of a single number, or of two close ones.
      ExpectNear(d.data() + row * n, Differences(sum, from, layer_norm), n < 4 ? 1e-2 : 2e-5);
      for (size_t i = 0; i < norm.size(); ++i) of_weight[i] += from[i] * norm[i], of_bias[i] += from[i];
    }
    ExpectNear(d_weight.data(), of_weight, 2e-5), ExpectNear(d_bias.data(), of_bias, 1e-6);
  }
}

TEST(RowGradients, ANormWithoutASummandEqualsThePlainNorm) {
  const Floats weight = Normals(20, 6), bias = Normals(20, 7);
  Floats hat = Normals(20, 5), scales(1), out(20), wanted(20);
  LayerNorm(hat.data(), weight.data(), bias.data(), kEpsilon, 1, 20, wanted.data());
  AddLayerNorm(nullptr, weight.data(), bias.data(), kEpsilon, 1, 20, hat.data(), scales.data(), out.data());
  for (size_t i = 0; i < 20; ++i) EXPECT_NEAR(out[i], wanted[i], 1e-6);
}

TEST(RowGradients, GeluAndItsSlopeMatchTheErrorFunction) {
  Floats x;
  for (double at = -12; at < 12; at += .01) x.push_back(static_cast<float>(at));
  Floats slope = x, y(x.size());
  GeluAndSlope(slope.data(), static_cast<int64_t>(x.size()), y.data());
  for (size_t i = 0; i < x.size(); ++i) {
    const double at = x[i], share = .5 * (1 + std::erf(at / std::sqrt(2.0)));
    EXPECT_NEAR(y[i], at * share, 5e-7 * std::max(1.0, std::abs(at))) << at;
    EXPECT_NEAR(slope[i], share + at * std::exp(-at * at / 2) / std::sqrt(2 * M_PI), 2e-6) << at;
  }
}

TEST(RowGradients, DropoutIsAFunctionOfKeyAndPlace) {
  constexpr int64_t kNumbers = 200'000;
  const auto dropped = [](uint64_t key, int64_t n) {
    Floats values(static_cast<size_t>(n), 3);
    DropFrom(key, .25, n, values.data());
    return values;
  };
  const Floats values = dropped(1, kNumbers);
  for (const float each : values) ASSERT_TRUE(each == 0 || each == 4);
  // Within four deviations, also for numbers after a dropped one, and for a key with a different half.
  const auto expect_a_quarter = [&](int64_t dropped_ones, double of) {
    EXPECT_NEAR(static_cast<double>(dropped_ones) / of, .25, 4 * std::sqrt(.25 * .75 / of));
  };
  int64_t all = 0, behind = 0, low = 0, high = 0;
  const Floats other = dropped(2, kNumbers), third = dropped(1 + (uint64_t{1} << 32), kNumbers);
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] != 0) continue;
    ++all;
    behind += i + 1 < values.size() && values[i + 1] == 0;
    low += other[i] == 0, high += third[i] == 0;
  }
  expect_a_quarter(all, kNumbers);
  for (const int64_t both : {behind, low, high}) expect_a_quarter(both, static_cast<double>(all));
  for (const int64_t n : kLengths) EXPECT_TRUE(std::equal(values.begin(), values.begin() + n, dropped(1, n).begin())) << n;
}

}  // namespace
}  // namespace backplane::nn
