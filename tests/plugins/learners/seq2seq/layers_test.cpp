// Compared with LibTorch's operations and their gradients.
#include "layers.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace backplane::seq2seq {
namespace {

// A leaf with a gradient to which more is added.
Weight Leaf(at::Tensor value) {
  Weight w{value.detach(), {}};
  w.value.set_requires_grad(true);
  w.value.mutable_grad() = at::ones_like(value);
  return w;
}
Weight Rounded(Weight w) {
  w.low = w.value.detach().to(at::kBFloat16);
  return w;
}

class Layers : public testing::Test {
 protected:
  Layers() { at::manual_seed(3); }
  // Gradients of `loss` with respect to both leaves and x.
  struct Gradients {
    at::Tensor weight, bias, x;
  };
  template <class Loss>
  Gradients Of(Loss&& loss, bool low = false) const {
    Affine w{Leaf(weight_), Leaf(bias_)};
    if (low) w = {Rounded(w.weight), Rounded(w.bias)};
    const at::Tensor x = x_.detach().set_requires_grad(true);
    loss(w, x).backward();
    return {w.weight.value.grad(), w.bias.value.grad(), x.grad()};
  }
  static void ExpectNear(const at::Tensor& found, const at::Tensor& wanted, double relative) {
    EXPECT_EQ(found.scalar_type(), at::kFloat);
    EXPECT_LE((found - wanted).norm().item<double>(), relative * wanted.norm().item<double>());
  }
  at::Tensor weight_ = at::randn({11, 6}), bias_ = at::randn({11}), x_ = at::randn({3, 4, 6}), mix_ = at::randn({3, 4, 11});
};

TEST_F(Layers, LinearAddsItsGradientsToThoseThatAreThere) {
  const auto wanted = Of([&](const Affine& w, const at::Tensor& x) {
    return (at::linear(x, w.weight.value, w.bias.value) * mix_).sum();  // autograd adds in place too
  });
  for (const bool low : {false, true}) {
    const auto found = Of([&](const Affine& w, const at::Tensor& x) { return (Linear(w, x) * mix_).sum(); }, low);
    const double bar = low ? .01 : 1e-6;
    ExpectNear(found.weight, wanted.weight, bar), ExpectNear(found.bias, wanted.bias, bar), ExpectNear(found.x, wanted.x, bar);
  }
}

// More rows than a block of rows.
TEST_F(Layers, AWeightsGradientSumsOverAllRows) {
  const at::Tensor g = at::randn({300, 7}), x = at::randn({300, 37}), grad = at::ones({7, 37});
  AddWeightGradient(g.data_ptr<float>(), 7, x.data_ptr<float>(), 37, 300, grad.data_ptr<float>());
  ExpectNear(grad, at::mm(g.t(), x) + 1, 1e-6);
}

TEST_F(Layers, LinearComputesInTheTypeOfItsFactors) {
  const Affine plain{{weight_, {}}, {bias_, {}}}, low{Rounded({weight_, {}}), Rounded({bias_, {}})};
  EXPECT_TRUE(Linear(plain, x_).equal(at::linear(x_, weight_, bias_)));
  EXPECT_EQ(Linear(low, x_).scalar_type(), at::kBFloat16);
}

TEST_F(Layers, LookupKeepsThePaddingsRow) {
  const at::Tensor ids = at::tensor({2, 1, 5, 2, 1, 0}, at::kLong).view({2, 3}), mix = at::randn({2, 3, 6});
  const Weight own = Leaf(weight_), theirs = Leaf(weight_);
  const at::Tensor rows = Lookup(own.value, ids, 1);
  EXPECT_TRUE(rows.equal(at::embedding(weight_, ids)));
  (rows * mix).sum().backward();
  (at::embedding(theirs.value, ids, 1) * mix).sum().backward();
  ExpectNear(own.value.grad(), theirs.value.grad(), 1e-6);
  EXPECT_TRUE(own.value.grad()[1].equal(at::ones({6})));
}

TEST_F(Layers, LabelLossIsTheCrossEntropy) {
  const at::Tensor labels = at::tensor({3, 0, 10, 3, 7, 1, 2, 2, 4, 9, 8, 10}, at::kLong);
  for (const double smoothing : {0., .1}) {
    double found = 0, wanted = 0;
    const auto expected = Of([&](const Affine& w, const at::Tensor& x) {
      const at::Tensor logits = at::linear(x.view({-1, 6}), w.weight.value, bias_);
      const at::Tensor loss = at::cross_entropy_loss(logits, labels, {}, at::Reduction::Sum, -100, smoothing) / 5;
      wanted = loss.item<double>();
      return loss;
    });
    for (const bool low : {false, true}) {
      const auto gradients = Of(
          [&](const Affine& w, const at::Tensor& x) {
            const at::Tensor loss = LabelLoss(w, x.view({-1, 6}), labels, smoothing) / 5;
            found = loss.item<double>();
            return loss;
          },
          low);
      EXPECT_NEAR(found, wanted, (low ? .01 : 1e-6) * wanted);
      ExpectNear(gradients.weight, expected.weight, low ? .02 : 1e-6);
      ExpectNear(gradients.x, expected.x, low ? .02 : 1e-6);
    }
  }
}

}  // namespace
}  // namespace backplane::seq2seq
