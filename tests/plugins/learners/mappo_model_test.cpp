// Acting, values and gradients of the fused path, and ValueNorm.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "mappo_iteration.hpp"
#include "nn/bf16.hpp"
#include "value_norm.hpp"

namespace backplane::mappo {
namespace {

using iteration_fixture::Backwards;
using iteration_fixture::Distance;
using iteration_fixture::InOrder;
using iteration_fixture::Iteration;
using iteration_fixture::kLoss;
using iteration_fixture::LossWith;

TEST(ValueNorm, AgreesWithTheReference) {
  ValueNorm norm;
  const auto update = [&](const std::vector<float>& x) {
    norm.Update(static_cast<int64_t>(x.size()), [&](int64_t i) { return x[i]; });
  };
  update({1, 2, 3}), update({4, 6});
  EXPECT_NEAR(norm.mean(), 3.5000075000375, 1e-9);
  EXPECT_NEAR(norm.variance(), 3.0833341666146, 1e-8);
  EXPECT_NEAR((5 - norm.scaling().mean) * norm.scaling().scale, .8542378095146, 1e-9);
  EXPECT_NEAR(norm.Denormalize(.8542378095146), 5, 1e-6);
}

TEST(MappoModel, FirstMinibatchHasRatioOne) {
  Iteration it({});
  const auto model = it.Fused();
  Samples& s = it.batch.samples();
  const std::vector<float> values = it.ValuesOf(*model);
  std::copy_n(values.begin(), s.n, s.value.begin());
  s.ret = s.value;
  std::vector<float> gradient(it.net.size);
  const StepStats stats = model->Gradient({s, it.batch.Order(0, s.n), {}, {}},
                                          LossWith([](LossOptions* o) { o->vf_clip = .2; }), it.params.data(), gradient.data());
  EXPECT_NEAR(stats.kl, 0, 1e-7);
  EXPECT_EQ(stats.clip_fraction, 0);
  EXPECT_NEAR(stats.policy_loss, -std::accumulate(s.advantage.begin(), s.advantage.end(), 0.0) / static_cast<double>(s.n),
              1e-6);
  EXPECT_EQ(stats.value_loss, 0) << "values and their gradient come from the same bits";
}

// The last observation of such an agent is the next entry of OBS, in which it is no longer alive.
TEST(MappoModel, BootstrapsAnAgentTruncatedOnItsOwnFromItsLastObservation) {
  Iteration it({.steps = 20, .has_cut_alone = true});
  const Samples& s = it.batch.samples();
  const std::vector<float> before = it.ValuesOf(*it.Fused());
  const auto& bootstraps = it.streams.bootstraps();
  const auto alone = std::find_if(bootstraps.begin(), bootstraps.end(),
                                  [](const Streams::Bootstrap& b) { return b.final < 0 && b.entry < 20; });
  ASSERT_NE(alone, bootstraps.end());
  // With the observation and state of sample 0, both values are equal.
  const int64_t agent = alone->place % it.rollout.all, row = agent / 4;
  std::copy_n(&it.rollout.obs.data[s.place[0] * 11], 11, &it.rollout.obs.data[(alone->entry * it.rollout.all + agent) * 11]);
  std::copy_n(&it.rollout.state.data[s.env_step[0] * 7], 7, &it.rollout.state.data[(alone->entry * 3 + row) * 7]);
  const std::vector<float> after = it.ValuesOf(*it.Fused());
  EXPECT_FLOAT_EQ(after[static_cast<size_t>(s.n + (alone - bootstraps.begin()))], after[0]);
  EXPECT_EQ(after[0], before[0]);
}

TEST(MappoModel, DeadAgentsNeverEnter) {
  Iteration clean({}), poisoned({});
  for (int64_t i = 0; i < clean.env.shape.steps * clean.rollout.all; ++i) {
    if (!clean.rollout.alive.data[i]) std::fill_n(&poisoned.rollout.obs.data[i * 11], 11, NAN);
  }
  poisoned.Act(0, 3);
  EXPECT_EQ(poisoned.rollout.action.data, clean.rollout.action.data);
  EXPECT_EQ(poisoned.rollout.logp.data, clean.rollout.logp.data);
  const auto a = clean.Fused(), b = poisoned.Fused();
  EXPECT_EQ(clean.ValuesOf(*a), poisoned.ValuesOf(*b));
  EXPECT_EQ(clean.GradientOf(*a, kLoss), poisoned.GradientOf(*b, kLoss));
  EXPECT_LT(clean.batch.samples().n, clean.env.shape.steps * clean.rollout.all);
}

TEST(MappoModel, AMinibatchHoldsEachLiveAgentOnceAndItsStepTogether) {
  Iteration it({.rows = 5, .agents = 4, .steps = 30});
  const Samples& s = it.batch.samples();
  std::vector<int32_t> order(it.batch.Order(0, s.n).begin(), it.batch.Order(0, s.n).end());
  int64_t changes = 1;
  for (size_t i = 1; i < order.size(); ++i) changes += s.step_of[order[i]] != s.step_of[order[i - 1]];
  EXPECT_EQ(changes, static_cast<int64_t>(s.env_step.size()));
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
  std::sort(order.begin(), order.end());
  for (int32_t i = 0; i < s.n; ++i) EXPECT_EQ(order[i], i);
  for (int64_t place : s.place) EXPECT_TRUE(it.rollout.alive.data[place]);
}

TEST(MappoModel, DependsOnTheShardsAndNotOnTheOrderInWhichTheyRun) {
  Iteration it({.rows = 40, .agents = 10, .steps = 12, .obs = 120}, true, Activation::kTanh, {128, 128});
  const auto gradient = [&](int64_t shards, Parallel parallel) {
    return it.GradientOf(*it.Fused(shards, std::move(parallel)), kLoss);
  };
  const std::vector<float> four = gradient(4, InOrder());
  EXPECT_EQ(four, gradient(4, Backwards()));
  EXPECT_NE(four, gradient(1, InOrder()));
  EXPECT_LE(Distance(four, gradient(1, InOrder())), 1e-5);
  EXPECT_EQ(it.ValuesOf(*it.Fused(4, Backwards())), it.ValuesOf(*it.Fused(1)));
}

// The bound on LibTorch's mixed precision, compared with float32.
TEST(MappoModel, MixedPrecisionIsNearAndOnlyForGradients) {
  if (!nn::HasBf16()) GTEST_SKIP() << "no avx512_bf16";
  Iteration it({.rows = 40, .agents = 10, .steps = 12, .obs = 120}, true, Activation::kTanh, {128, 128});
  const auto plain = it.Fused(4), mixed = it.Fused(4, InOrder(), nn::Precision::kBf16),
             backwards = it.Fused(4, Backwards(), nn::Precision::kBf16);
  const std::vector<float> gradient = it.GradientOf(*mixed, kLoss);
  EXPECT_NE(gradient, it.GradientOf(*plain, kLoss));
  EXPECT_LE(Distance(gradient, it.GradientOf(*plain, kLoss)), .05);
  EXPECT_EQ(gradient, it.GradientOf(*backwards, kLoss));
  EXPECT_EQ(it.ValuesOf(*mixed), it.ValuesOf(*plain));
}

TEST(MappoActor, ARowsResultDoesNotDependOnTheRange) {
  Iteration it({.rows = 40, .agents = 5});
  const auto actions = it.rollout.action.data;
  const auto logps = it.rollout.logp.data;
  for (uint64_t row = 0; row < 40; ++row) it.Act(row, row + 1);
  EXPECT_EQ(it.rollout.action.data, actions);
  EXPECT_EQ(it.rollout.logp.data, logps);
}

TEST(MappoActor, NumbersAreDrawnAroundTheMeanAndKeptWithinTheBounds) {
  Iteration it({.rows = 40, .actions = 0, .has_mask = false, .numbers = 2});
  const auto drawn = it.rollout.raw.data;
  it.Act(0, 40, BP_ACT_GREEDY);
  const std::vector<float>&mean = it.rollout.raw.data, &sent = it.rollout.numbers.data;
  double sum = 0, squares = 0;
  int64_t n = 0;
  for (size_t i = 0; i < mean.size(); ++i) {
    EXPECT_EQ(sent[i], std::clamp(mean[i], .1f, 1.f)) << i;
    if (!it.rollout.alive.data[i / 2]) {
      EXPECT_EQ(sent[i], .1f) << i;
      continue;
    }
    const double z = (drawn[i] - mean[i]) / std::exp(it.params[it.net.log_std + static_cast<int64_t>(i % 2)]);
    sum += z, squares += z * z, ++n;
  }
  const double count = static_cast<double>(n);
  EXPECT_NEAR(sum / count, 0, 5 / std::sqrt(count));
  EXPECT_NEAR(squares / count, 1, 5 * std::sqrt(2 / count));
}

TEST(MappoActor, DeadAgentsDoNothingAndLiveOnesObeyTheMask) {
  Iteration it({});
  for (int64_t i = 0; i < it.env.shape.steps * it.rollout.all; ++i) {
    const int32_t action = it.rollout.action.data[i];
    const bool allowed = it.rollout.mask.data[i * it.env.shape.actions + action];
    EXPECT_TRUE(it.rollout.alive.data[i] ? allowed : action == 0) << i;
  }
}

}  // namespace
}  // namespace backplane::mappo
