// Numerics of augmented random search without the host: steps, observation statistics, networks.
#include <gmock/gmock.h>

#include <cmath>

#include "backplane/rng.h"
#include "filter.hpp"
#include "kept_directions.hpp"
#include "policy.hpp"

namespace backplane::ars {
namespace {

using testing::ElementsAre;

// The reference case: three directions (1,0), (0,1), (1,1), step size 0.02.
constexpr double kDirections[3][2] = {{1, 0}, {0, 1}, {1, 1}};
const std::vector<double> kReturns = {1, 2, 5, 1, 3, 6};  // r+ 1, 5, 3; r- 2, 1, 6

std::pair<double, double> Moved(const Step& step) {
  double x = 0, y = 0;
  for (size_t k = 0; k < step.kept.size(); ++k) {
    x += 0.02 * step.weights[k] * kDirections[step.kept[k]][0];
    y += 0.02 * step.weights[k] * kDirections[step.kept[k]][1];
  }
  return {x, y};
}

TEST(ArsStep, KeepsTheBestAndDividesByTheDeviationOfTheKept) {
  const Step two = TakeStep(kReturns, 2);
  EXPECT_THAT(two.kept, ElementsAre(2, 1));
  EXPECT_NEAR(two.sigma, 1.920286436967, 5e-13);
  EXPECT_NEAR(Moved(two).first, -.015622669318, 5e-13);
  EXPECT_NEAR(Moved(two).second, .005207556439, 5e-13);
  const Step all = TakeStep(kReturns, 3);
  EXPECT_NEAR(all.sigma, 1.914854215513, 5e-13);
  EXPECT_NEAR(Moved(all).first, -.013926212476, 5e-13);
  EXPECT_NEAR(Moved(all).second, .003481553119, 5e-13);
}

TEST(ArsStep, KeepsExactlyAsManyAsAskedAndTheLowestOfEqualOnes) {
  EXPECT_THAT(TakeStep({0, 7, 1, 2, 7, 3, 7, 7}, 2).kept, ElementsAre(0, 2));
}

TEST(ArsStep, IsZeroForEqualReturns) {
  // 0.1 is no sum of powers of two, so the mean of many differs from it.
  const Step step = TakeStep(std::vector<double>(14, 0.1), 7);
  EXPECT_EQ(step.sigma, 0);
  EXPECT_THAT(step.weights, testing::Each(0));
}

TEST(ArsStep, RanksAreCentredAndSharedByEqualNumbers) {
  EXPECT_THAT(CentredRanks({30, -1000, 20, 40, 21}), ElementsAre(.25, -.5, -.25, .5, 0));
  EXPECT_THAT(CentredRanks({5, 1, 5}), ElementsAre(.25, -.5, .25));
  EXPECT_THAT(CentredRanks({5, 5}), ElementsAre(0, 0));
}

struct Batch {
  explicit Batch(const std::vector<double>& values) {
    for (double x : values) mean += x / static_cast<double>(values.size());
    for (double x : values) squares += (x - mean) * (x - mean);
    count = static_cast<double>(values.size());
  }
  void MergeInto(ObsFilter* filter) const { filter->Merge(count, &mean, &squares); }
  double count, mean = 0, squares = 0;
};

float Filtered(const ObsFilter& filter, float x) {
  float y;
  filter.Apply(&x, &y);
  return y;
}

TEST(ArsFilter, MergesMoments) {
  ObsFilter filter(1);
  Batch({1, 2, 4}).MergeInto(&filter);
  Batch({3, -1}).MergeInto(&filter);
  EXPECT_EQ(filter.count(), 5);
  EXPECT_DOUBLE_EQ(filter.mean(0), 1.8);
  EXPECT_DOUBLE_EQ(filter.squares(0), 14.8);
  EXPECT_DOUBLE_EQ(filter.variance(0), 3.7);
  EXPECT_FLOAT_EQ(Filtered(filter, 5), static_cast<float>((5 - 1.8) / (std::sqrt(3.7) + 1e-8)));
}

TEST(ArsFilter, KeepsObservationsUnchangedUntilTheSecond) {
  ObsFilter filter(1);
  EXPECT_EQ(Filtered(filter, 5), 5);
  Batch({3}).MergeInto(&filter);
  EXPECT_EQ(Filtered(filter, 5), 5);
  Batch({4}).MergeInto(&filter);
  EXPECT_NE(Filtered(filter, 5), 5);
}

TEST(ArsFilter, ANumberThatNeverChangesBecomes0) {
  ObsFilter filter(1);
  Batch({2, 2, 2 + 1e-8}).MergeInto(&filter);
  EXPECT_EQ(Filtered(filter, 7), 0);
}

// The same network in double, with products in plain loops.
std::vector<double> Plain(const PolicyShape& shape, const std::vector<double>& weights, std::vector<double> x) {
  size_t at = 0;
  std::vector<int64_t> sizes = shape.hidden;
  sizes.push_back(shape.outputs);
  for (size_t layer = 0; layer < sizes.size(); ++layer) {
    std::vector<double> y(sizes[layer]);
    for (double in : x) {
      for (double& out : y) out += in * weights[at++];
    }
    for (double& out : y) out += shape.bias ? weights[at++] : 0;
    for (double& out : y) {
      if (layer + 1 < sizes.size()) out = shape.activation == nn::Activation::kTanh ? std::tanh(out) : std::max(out, 0.0);
    }
    x = y;
  }
  EXPECT_EQ(at, weights.size());
  return x;
}

class ArsPolicy : public testing::TestWithParam<PolicyShape> {};
INSTANTIATE_TEST_SUITE_P(Shapes, ArsPolicy,
                         testing::Values(PolicyShape{17, 6, {}, false, nn::Activation::kTanh},
                                         PolicyShape{5, 40, {}, true, nn::Activation::kTanh},
                                         PolicyShape{31, 12, {256}, true, nn::Activation::kTanh},
                                         PolicyShape{3, 1, {7, 33}, true, nn::Activation::kRelu},
                                         PolicyShape{3, 2, {16}, false, nn::Activation::kTanh}));

TEST_P(ArsPolicy, IsThePlainNetwork) {
  const Policy policy(GetParam());
  std::vector<double> weights(policy.size()), x(GetParam().obs);
  bp_rng rng{3, 0};
  for (double& w : weights) w = static_cast<float>(bp_rng_normal(&rng) / 4);
  for (double& v : x) v = static_cast<float>(bp_rng_normal(&rng));
  PackedWeights packed;
  packed.flat.assign(weights.begin(), weights.end());
  policy.Pack(&packed);
  const std::vector<float> input(x.begin(), x.end());
  const float* outputs = policy.Outputs(packed, input.data());
  const std::vector<double> expected = Plain(GetParam(), weights, x);
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(outputs[i], expected[i], 2e-5) << i;
}

TEST(ArsPolicy, StartsWithScaledHiddenLayersAndTheLastOneAsAsked) {
  const Policy policy({100, 8, {400}, true, nn::Activation::kTanh});
  std::vector<double> weights(policy.size());
  policy.Init(5, 0.01, weights.data());
  const auto deviation = [&](int64_t begin, int64_t n) {
    double squares = 0;
    for (int64_t i = begin; i < begin + n; ++i) squares += weights[i] * weights[i];
    return std::sqrt(squares / static_cast<double>(n));
  };
  EXPECT_NEAR(deviation(0, 40000), 0.1, 0.001);
  EXPECT_EQ(deviation(40000, 400), 0);
  EXPECT_NEAR(deviation(40400, 3200), 0.01, 0.0005);
  policy.Init(5, 0, weights.data());
  EXPECT_EQ(deviation(40400, 3200), 0);
}

}  // namespace
}  // namespace backplane::ars
