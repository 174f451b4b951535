// Compares LibTorch's values, gradients and actions with the fused ones.
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "mappo_iteration.hpp"
#include "on_policy/shards.hpp"
#include "torch_model.hpp"

namespace backplane::mappo {
namespace {

using iteration_fixture::Distance;
using iteration_fixture::Iteration;
using iteration_fixture::kLoss;
using iteration_fixture::LossWith;
using test_support::AgentRollout;
using test_support::AgentShape;

const AgentShape kContinuous{.rows = 20, .actions = 0, .has_mask = false, .numbers = 3},
    kMixed{.rows = 20, .actions = 3, .more = 2, .numbers = 2, .bits = 2};

constexpr bp_device kCpu{BP_DEVICE_CPU, 0};

std::unique_ptr<TorchModel> Torch(Iteration& it, const TorchOptions& options = {}) {
  at::set_num_threads(1);  // as in a trial
  std::unique_ptr<TorchModel> model = MakeTorchModel(it.net, it.shape, options, &it.host);
  model->Take(it.rollout.delivery(), it.streams, it.batch.samples());
  return model;
}

void ExpectEqualPaths(Iteration& it, const LossOptions& options) {
  const auto fused = it.Fused();
  const auto torch = Torch(it);
  EXPECT_LE(Distance(it.ValuesOf(*fused), it.ValuesOf(*torch)), 1e-6);
  StepStats a, b;
  EXPECT_LE(Distance(it.GradientOf(*fused, options, &a), it.GradientOf(*torch, options, &b)), 1e-5);
  for (double StepStats::*each :
       {&StepStats::policy_loss, &StepStats::value_loss, &StepStats::entropy, &StepStats::total, &StepStats::kl}) {
    EXPECT_NEAR(a.*each, b.*each, 1e-5 * (1 + std::abs(b.*each)));
  }
  EXPECT_EQ(a.clip_fraction, b.clip_fraction);
}

TEST(MappoPaths, AgreeWithACentralCritic) {
  Iteration it({});
  ExpectEqualPaths(it, kLoss);
}
TEST(MappoPaths, AgreeOnDenseObservations) {
  Iteration it({.rows = 7, .zeros = 0});
  ExpectEqualPaths(it, LossWith([](LossOptions* o) { o->entropy_coeff = 0; }));
}
TEST(MappoPaths, AgreeWithAnIndependentCriticOfOneLayer) {
  Iteration it({.has_state = false}, false, Activation::kRelu, {16});
  ExpectEqualPaths(it, LossWith([](LossOptions* o) { o->vf_coeff = 1; }));
}
TEST(MappoPaths, AgreeOnHuberAndClippedValues) {
  Iteration it({});
  ExpectEqualPaths(it, LossWith([](LossOptions* o) { o->vf_clip = .1, o->huber_delta = .5; }));
}
TEST(MappoPaths, AgreeOnAgentsTruncatedOnTheirOwn) {
  Iteration it({.steps = 20, .has_cut_alone = true});
  ExpectEqualPaths(it, kLoss);
}
TEST(MappoPaths, AgreeOnNumbers) {
  Iteration it(kContinuous);
  ExpectEqualPaths(it, LossWith([](LossOptions* o) { o->entropy_coeff = .3; }));
}
TEST(MappoPaths, AgreeOnNumbersChoicesAndBits) {
  Iteration it(kMixed);
  ExpectEqualPaths(it, LossWith([](LossOptions* o) { o->entropy_coeff = .3; }));
}
TEST(MappoPaths, AgreeWithoutMaskAliveAndEnds) {
  Iteration it({.has_mask = false, .has_alive = false, .has_ended = false});
  ExpectEqualPaths(it, kLoss);
}

void ExpectNear(const std::vector<float>& a, const std::vector<float>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-5) << i;
}

void ExpectTheKernelsActions(const AgentShape& shape) {
  Iteration it(shape);
  const auto actor = MakeTorchActor(it.net, it.shape, kCpu, &it.host);
  actor->Refresh(it.params.data());
  AgentRollout& r = it.rollout;
  for (const uint32_t flags : {BP_ACT_EXPLORE, BP_ACT_GREEDY}) {
    it.Act(0, 20, flags);
    const auto actions = r.action.data;
    const auto bits = r.bits.data;
    const std::vector<float> logps = r.logp.data, numbers = r.numbers.data, raw = r.raw.data;
    for (auto* each : {&r.logp.data, &r.numbers.data, &r.raw.data}) std::fill(each->begin(), each->end(), 9.f);
    std::fill(r.bits.data.begin(), r.bits.data.end(), 9);
    if (shape.actions > 0) std::fill(r.action.data.begin(), r.action.data.end(), 9);
    for (int64_t t = 0; t < it.env.shape.steps; ++t) {
      std::vector<bp_tensor> in = r.In(t), out = r.Out(t);
      std::vector<bp_tensor*> ins = r.Pointers(in), outs = r.Pointers(out);
      for (uint64_t row : {0, 10})
        actor->Act({sizeof(bp_act), flags, row, row + 10, 0, 11, static_cast<uint64_t>(t), ins.data(), outs.data()});
    }
    EXPECT_EQ(r.action.data, actions);
    EXPECT_EQ(r.bits.data, bits);
    ExpectNear(r.logp.data, logps), ExpectNear(r.numbers.data, numbers), ExpectNear(r.raw.data, raw);
  }
}

TEST(MappoTorch, ActsAsTheKernelsDo) {
  ExpectTheKernelsActions({.rows = 20});
  ExpectTheKernelsActions(kContinuous);
  ExpectTheKernelsActions(kMixed);
}

TEST(MappoTorch, MixedPrecisionIsNearAndEndsWithTheGradient) {
  Iteration it({.rows = 20});
  const auto model = Torch(it);
  const std::vector<float> plain = it.GradientOf(*model, kLoss);
  model->UseAmp(Amp::kBf16);
  const std::vector<float> mixed = it.GradientOf(*model, kLoss);
  EXPECT_NE(mixed, plain);
  EXPECT_LE(Distance(mixed, plain), .05);
  model->UseAmp(Amp::kOff);
  EXPECT_EQ(it.GradientOf(*model, kLoss), plain);
}

TEST(MappoTorch, ShardsDecideTheBitsAndDevicesDoNot) {
  Iteration it({.rows = 200});
  ASSERT_EQ(on_policy::RunsFor(it.All().n(), it.net.size, 3), 3) << "enough work";
  const auto gradient = [&](int64_t shards, size_t devices) {
    const auto model = Torch(it, {.devices = std::vector<bp_device>(devices, kCpu), .shards = shards});
    return it.GradientOf(*model, kLoss);
  };
  const std::vector<float> two = gradient(2, 1), three = gradient(3, 1), one = gradient(1, 1);
  EXPECT_EQ(gradient(2, 2), two);
  EXPECT_EQ(gradient(3, 2), three);
  EXPECT_EQ(gradient(1, 2), one) << "the second device idles";
  EXPECT_NE(two, one);
  EXPECT_NE(two, three);
  EXPECT_LE(Distance(two, one), 1e-6);
}

TEST(MappoTorch, CriticOnItsOwnDeviceGivesTheSameBits) {
  for (const bool has_state : {true, false}) {
    Iteration it({.rows = 200, .has_state = has_state}, has_state);
    for (const int64_t shards : {1, 3}) {
      const auto one = Torch(it, {.shards = shards}), two = Torch(it, {.critic_device = kCpu, .shards = shards});
      EXPECT_EQ(it.GradientOf(*one, kLoss), it.GradientOf(*two, kLoss));
      EXPECT_EQ(it.ValuesOf(*one), it.ValuesOf(*two));
    }
  }
}

TEST(MappoTorch, ScaledLossInFloat16GivesTheSameGradient) {
  Iteration it({.rows = 20});
  const auto model = Torch(it);
  const std::vector<float> plain = it.GradientOf(*model, kLoss);
  const auto scaled = [](double by) { return LossWith([&](LossOptions* o) { o->loss_scale = by; }); };
  EXPECT_EQ(it.GradientOf(*model, scaled(1024)), plain) << "a power of 2 is exact in float32";
  model->UseAmp(Amp::kFp16);
  EXPECT_LE(Distance(it.GradientOf(*model, scaled(1024)), plain), .01);
  const std::vector<float> overflowed = it.GradientOf(*model, scaled(1e8));
  EXPECT_TRUE(std::any_of(overflowed.begin(), overflowed.end(), [](float x) { return !std::isfinite(x); }));
}

// 2^-24 is the least positive number in float16; a scale lifts gradients above it.
TEST(MappoTorch, ScaleKeepsSmallGradientsOfFloat16) {
  Iteration it({.rows = 20});
  const auto model = Torch(it);
  const auto small = [](double scale) {
    return LossWith([&](LossOptions* o) { o->vf_coeff = 1e-7, o->entropy_coeff = 0, o->loss_scale = scale; });
  };
  const auto of_the_critic = [&](std::vector<float> all) { return std::vector<float>(all.begin() + it.net.split, all.end()); };
  const std::vector<float> plain = of_the_critic(it.GradientOf(*model, small(1)));
  model->UseAmp(Amp::kFp16);
  EXPECT_GT(Distance(of_the_critic(it.GradientOf(*model, small(1))), plain), .2);
  EXPECT_LE(Distance(of_the_critic(it.GradientOf(*model, small(65536))), plain), .02);
}

TEST(MappoTorch, MixedPrecisionIsTakenFromAGainOfAFifthOn) {
  const AmpChoice on = ChooseAmp(12.5, 10), at_the_bound = ChooseAmp(6, 5), off = ChooseAmp(11.9, 10),
                  slower = ChooseAmp(10, 40);
  EXPECT_TRUE(on.on);
  EXPECT_EQ(on.text, "on: a gradient took 12.50 ms in float32, 10.00 ms in bfloat16 (on from a gain of 1.2)");
  EXPECT_TRUE(at_the_bound.on);
  EXPECT_FALSE(off.on);
  EXPECT_EQ(off.text, "off: a gradient took 11.90 ms in float32, 10.00 ms in bfloat16 (on from a gain of 1.2)");
  EXPECT_FALSE(slower.on);
}

TEST(MappoTorch, AProbeKeepsThePathThatItReports) {
  Iteration it({.rows = 20});
  const auto model = Torch(it);
  const std::vector<float> plain = it.GradientOf(*model, kLoss);
  model->UseAmp(Amp::kBf16);
  const std::vector<float> mixed = it.GradientOf(*model, kLoss);
  std::string said;
  bp_host host = it.host;
  host.impl = &said;
  host.log = [](const bp_host* h, int32_t, const char* text) { static_cast<std::string*>(h->impl)->append(text); };
  ProbeAmp(&host, it.All(), kLoss, it.params.data(), it.net.size, model.get());
  const bool on = said.starts_with("use_amp: auto is on: a gradient took ");
  EXPECT_NE(on, said.starts_with("use_amp: auto is off: a gradient took ")) << said;
  EXPECT_EQ(it.GradientOf(*model, kLoss), on ? mixed : plain);
}

}  // namespace
}  // namespace backplane::mappo
