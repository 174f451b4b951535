// The update against figures from PyTorch in float64, and the learner against its own promises.
#include "ppo.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "cartpole_trial.hpp"
#include "losses.hpp"
#include "torch/flat_params.hpp"

namespace backplane::ppo {
namespace {

using backplane::testing::CartPoleTrial;
using backplane::testing::LoadState;
using backplane::testing::SaveState;

at::Tensor Doubles(std::vector<double> values, std::vector<int64_t> shape) {
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
  const at::Tensor a = NormalizeAdvantages(Doubles({.481643325, -.65535, -.7, 4.232747095, 2.27299, 3.58, -.0426645, -.409}, {8}));
  EXPECT_NEAR(a[0].item<double>(), -.308766956, 1e-8);
  EXPECT_NEAR(a[3].item<double>(), 1.579417478, 1e-8);
}

TEST(Adam, AgreesWithTheReference) {
  torch_common::FlatParams p(1, at::kDouble);
  p.value().fill_(1);
  const double gradients[] = {.5, -1, 2}, want[] = {.90000199996, .93661188965, .89464664493};
  for (int i = 0; i < 3; ++i) {
    p.grad().fill_(gradients[i]);
    p.AdamStep(.1);
    EXPECT_NEAR(p.value().item<double>(), want[i], 1e-11);
  }
}

// logits = W x + b, V = w x + c: a Net without hidden layers, whose weights lie [in, out].
TEST(PpoUpdate, AgreesWithPyTorch) {
  const Net net(2, {}, 2, true, Activation::kTanh);
  PpoUpdate<double> update(net);
  const double first[] = {.1, .3, -.2, .4, 0, .1, .5, -.5, .2};
  std::copy(std::begin(first), std::end(first), update.params());
  const double obs[] = {1, 0, 0, 1, 1, 1, -1, .5}, logp[] = {-.7, -.9, -.4, -.6}, adv[] = {1, -1, .5, 2}, ret[] = {1, 0, .5, -1};
  const double value[] = {.9, -.1, .2, -.3};
  const int64_t choice[] = {0, 1, 1, 0};
  const Minibatch<double> batch{4, obs, nullptr, choice, nullptr, logp, adv, ret, value};
  LossOptions options;
  options.entropy_coeff = .01;
  const StepStats s = update.Step(batch, options, .01);
  EXPECT_NEAR(s.policy_loss, .270802285899, 1e-11);
  EXPECT_NEAR(s.value_loss, .065, 1e-11);
  EXPECT_NEAR(s.entropy, .651737122520, 1e-11);
  EXPECT_NEAR(s.total, .296784914673, 1e-11);
  EXPECT_NEAR(s.kl, .044536564567, 1e-11);
  EXPECT_NEAR(s.clip_fraction, .25, 1e-11);
  EXPECT_NEAR(s.grad_norm, .627441001936, 1e-11);
  const double* p = update.params();
  const double once[] = {.090001589835321, -.190000506342505, .009999638374761, .090000361625239, .509997769592687,
                         -.490001672898766, .209998661636208};
  const double thrice[] = {.070008463831537, -.170000134884747, .029998135479259, .070001864520741, .529996744369537,
                           -.470143652471925, .229998182655445};
  const int place[] = {0, 2, 4, 5, 6, 7, 8};
  for (int i = 0; i < 7; ++i) EXPECT_NEAR(p[place[i]], once[i], 1e-12) << i;
  update.Step(batch, options, .01), update.Step(batch, options, .01);
  for (int i = 0; i < 7; ++i) EXPECT_NEAR(p[place[i]], thrice[i], 1e-12) << i;
}

TEST(PpoUpdate, RefusesALossThatIsNotFinite) {
  const Net net(1, {}, 2, true, Activation::kTanh);
  PpoUpdate<float> update(net);
  const float x = NAN, zero = 0;
  const int64_t choice = 0;
  try {
    update.Step({1, &x, nullptr, &choice, nullptr, &zero, &zero, &zero, &zero}, {}, .01);
    FAIL() << "no error";
  } catch (const bp::Error& e) {
    EXPECT_EQ(e.code(), BP_E_NUMERIC);
  }
}

// Acting and learning use different code: the first minibatch shows whether they agree.
TEST(PpoUpdate, FirstMinibatchOfGaussianSamplesHasRatioOne) {
  const Net net(3, {64, 64}, 2, false, Activation::kTanh);
  PpoUpdate<float> update(net);
  InitParams(net, 5, true, -.5, update.params());
  constexpr int64_t kN = 64;
  std::vector<float> obs(kN * 3), mean(kN * 2), raw(kN * 2), logp(kN), adv(kN), value(kN);
  bp_rng rng{9, 0};
  for (float& x : obs) x = static_cast<float>(bp_rng_normal(&rng));
  Scratch scratch;
  Forward(net.actor, net.activation, update.params(), obs.data(), kN, &scratch, mean.data());
  Forward(net.critic, net.activation, update.params(), obs.data(), kN, &scratch, value.data());
  double sum = 0;
  for (int64_t i = 0; i < kN; ++i) {
    bp_rng noise{static_cast<uint64_t>(i), 0};
    for (int64_t k = 0; k < 2; ++k) raw[i * 2 + k] = mean[i * 2 + k] + std::exp(-.5f) * static_cast<float>(bp_rng_normal(&noise));
    const at::Tensor lp = GaussianLogp(at::from_blob(&raw[i * 2], {2}), at::from_blob(&mean[i * 2], {2}), at::full({2}, -.5f));
    logp[i] = lp.item<float>();
    adv[i] = static_cast<float>(i % 7) - 2.f;
    sum += adv[i];
  }
  LossOptions options;
  options.normalize_advantages = false;
  const StepStats s = update.Step({kN, obs.data(), raw.data(), nullptr, nullptr, logp.data(), adv.data(), value.data(), value.data()},
                                  options, 1e-3);
  EXPECT_NEAR(s.kl, 0, 1e-7);
  EXPECT_EQ(s.clip_fraction, 0);
  EXPECT_NEAR(s.policy_loss, -sum / kN, 1e-5);
  EXPECT_NEAR(s.value_loss, 0, 1e-9);
}

TEST(Ppo, ARowsResultDoesNotDependOnTheRange) {
  CartPoleTrial trial(13, 4, {{"train_batch_size", "52"}});
  trial.Iterate();
  trial.Act(0, 0, 13);
  const std::vector<float> value = trial.value().data, logp = trial.logp().data;
  for (int64_t row = 0; row < 13; ++row) trial.Act(0, row, row + 1);
  EXPECT_EQ(value, trial.value().data);
  EXPECT_EQ(logp, trial.logp().data);
}

TEST(Ppo, LearnsOnBitForBitAfterLoading) {
  const std::map<std::string, std::string> options = {{"train_batch_size", "64"},     {"minibatch_size", "24"},
                                                      {"normalize_obs", "true"},      {"normalize_rewards", "true"},
                                                      {"lr_schedule", "kl_adaptive"}, {"kl_target", "0.008"}};
  CartPoleTrial one(4, 16, options), two(4, 16, options);
  for (int i = 0; i < 3; ++i) one.Iterate(), two.Iterate();
  const std::string saved = SaveState(one.api(), one.learner());
  EXPECT_EQ(saved, SaveState(two.api(), two.learner()));
  ASSERT_EQ(two.Resume(saved), BP_OK) << two.host().error;
  one.Iterate(), two.Iterate();
  const std::string after = SaveState(one.api(), one.learner());
  EXPECT_NE(after, saved);
  EXPECT_EQ(after, SaveState(two.api(), two.learner()));
}

TEST(Ppo, RefusesAStateOfAnotherShape) {
  CartPoleTrial small(2, 4, {{"hidden", "[8]"}}), large(2, 4, {{"hidden", "[16]"}});
  EXPECT_EQ(LoadState(large.api(), large.learner(), SaveState(small.api(), small.learner())), BP_E_INVALID_ARG);
  EXPECT_EQ(large.host().error, "the saved state has another shape: hidden layer should be 16, got 8");
}

TEST(Ppo, AsksForARolloutThenEpochsTimesMinibatchesTicks) {
  CartPoleTrial trial(4, 16, {{"train_batch_size", "61"}, {"minibatch_size", "24"}, {"num_epochs", "2"}});
  const bp_request first = trial.Plan(0);
  EXPECT_EQ(first.kind, uint32_t{BP_REQ_ROLLOUT});
  EXPECT_EQ(first.u.rollout.horizon, 16u);
  trial.Collect(0);
  for (int i = 0; i < 6; ++i) {
    ASSERT_EQ(trial.Plan(0).kind, uint32_t{BP_REQ_TICK});
    ASSERT_EQ(trial.Tick(), BP_OK);
  }
  EXPECT_EQ(trial.Plan(0).kind, uint32_t{BP_REQ_ROLLOUT});
}

}  // namespace
}  // namespace backplane::ppo
