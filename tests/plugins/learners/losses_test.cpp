// Compares the parts of the loss in LibTorch with reference values.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "on_policy/torch_loss.hpp"

namespace backplane::on_policy {
namespace {

at::Tensor Doubles(const std::vector<double>& values, const std::vector<int64_t>& shape) {
  return at::tensor(values, at::kDouble).view(shape);
}

TEST(Losses, GaussianAgreesWithTheReference) {
  const at::Tensor mean = Doubles({1, -1, .1, -.1}, {2, 2}), log_std = Doubles({.1, .1, .2, .3}, {2, 2}).log();
  const at::Tensor logp = GaussianLogp(Doubles({1.2, -1.1, -.1, 0}, {2, 2}), mean, log_std), h = GaussianEntropy(log_std);
  EXPECT_NEAR(logp[0].item<double>(), .26729202, .267 * 1e-5);  // the reference is float32
  EXPECT_NEAR(logp[1].item<double>(), .41997814, .419 * 1e-5);
  EXPECT_NEAR(h[0].item<double>(), -1.7672932, 1e-7);
  EXPECT_NEAR(h[1].item<double>(), .02446628, 1e-7);
}

TEST(Losses, CategoricalAgreesWithTheReference) {
  const at::Tensor logits = Doubles({1, 2, .5, -1}, {1, 4}), mask = at::tensor({1, 0, 1, 1}, at::kByte).view({1, 4});
  const at::Tensor masked = MaskedLogSoftmax(logits, mask), open = MaskedLogSoftmax(logits, {});
  EXPECT_NEAR(masked.exp()[0][0].item<double>(), .5740969929677, 1e-12);
  EXPECT_EQ(masked.exp()[0][1].item<double>(), 0);
  EXPECT_NEAR(masked[0][2].item<double>(), -1.0549569196420, 1e-12);
  EXPECT_NEAR(CategoricalEntropy(masked)[0].item<double>(), .8844517918810, 1e-12);
  EXPECT_NEAR(open[0][1].item<double>(), -.4951818980859, 1e-12);
  EXPECT_NEAR(CategoricalEntropy(open)[0].item<double>(), 1.0144027755026, 1e-12);
}

TEST(Losses, ClippedSurrogateAgreesWithRlax) {
  const at::Tensor now = Doubles({1, 1, 1, 2, 0, 0, -1, -2, -3}, {3, 3}), old = Doubles({1, 1, 1, 2, 0, 0, -3, -2, -1}, {3, 3});
  const at::Tensor a = at::tensor({0, 1, 2}, at::kLong).view({3, 1});
  const at::Tensor ratio = (now.log_softmax(1).gather(1, a) - old.log_softmax(1).gather(1, a)).exp().squeeze(1);
  // The third ratio is exp(-2). The published -.17117467 comes from a float32 exp that is 1.9e-5 off the closed form.
  const double surrogate = ClippedSurrogate(ratio, Doubles({.3, .2, .1}, {3}), .2).item<double>();
  EXPECT_NEAR(surrogate, -(.3 + .2 + .1 * std::exp(-2.0)) / 3, 1e-12);
  EXPECT_NEAR(surrogate, -.17117467, .171 * 2e-5);
  EXPECT_NEAR(ClippedSurrogate(ratio, Doubles({-.3, -.2, -.1}, {3}), .2).item<double>(), .19333333, 1e-8);
}

TEST(Losses, AdvantagesAreNormalisedWithTheUnbiasedDeviation) {
  const at::Tensor a =
      NormalizeAdvantages(Doubles({.481643325, -.65535, -.7, 4.232747095, 2.27299, 3.58, -.0426645, -.409}, {8}));
  EXPECT_NEAR(a[0].item<double>(), -.308766956, 1e-8);
  EXPECT_NEAR(a[3].item<double>(), 1.579417478, 1e-8);
}

}  // namespace
}  // namespace backplane::on_policy
