// The losses and gradients of SAC by themselves, without host and replay buffer, in double: compared with differences of the
// losses, hand-made numbers and properties.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "backplane/rng.h"
#include "squashed.hpp"
#include "trainer.hpp"

namespace backplane::sac {
namespace {

constexpr int64_t kObs = 3, kActions = 2;

Parallel Backwards() {
  return [](uint64_t n, const std::function<void(uint64_t)>& body) {
    while (n-- > 0) body(n);
  };
}

struct Settings {
  std::vector<int64_t> hidden = {7, 5}, critic_hidden = {6, 4};
  Activation activation = Activation::kTanh;  // differences need a smooth function
  TrainerOptions options{.lr = 1e-3, .critic_lr = 1e-3, .alpha_lr = 1e-3};
  Temperature temperature{0.3, true, -2};
  Parallel parallel = OnOneThread();
};

std::vector<double> Normals(int64_t n, uint64_t seed, double scale = 1) {
  std::vector<double> out(static_cast<size_t>(n));
  bp_rng rng{seed, 0};
  for (double& x : out) x = scale * bp_rng_normal(&rng);
  return out;
}

struct Trial {
  explicit Trial(const Settings& setup, int64_t n = 9)
      : trainer(Net({kObs, kActions, setup.hidden, setup.critic_hidden, setup.activation}), setup.options, setup.temperature,
                setup.parallel, ""),
        noise(Normals(n * kActions, 4)),
        next_noise(Normals(n * kActions, 5)) {
    const std::vector<double> actor = Normals(trainer.net().actor_size, 1, .4),
                              critics = Normals(trainer.net().critics_size, 2, .4);
    std::copy(actor.begin(), actor.end(), trainer.actor().params());
    std::copy(critics.begin(), critics.end(), trainer.critics().params());
    trainer.Refresh(true);
    batch.n = n;
    batch.obs = Normals(n * kObs, 6), batch.next_obs = Normals(n * kObs, 7), batch.action = Normals(n * kActions, 8, .5);
    batch.reward = Normals(n, 9), batch.discount.assign(static_cast<size_t>(n), .99);
    batch.discount[0] = 0;
  }
  UpdateStats Update() { return trainer.Update(batch, noise.data(), next_noise.data()); }
  // Transition i by itself.
  Trial Only(const Settings& setup, int64_t i) const {
    Trial one(setup, 1);
    const auto cut = [&](const std::vector<double>& from, int64_t width) {
      return std::vector<double>(from.begin() + i * width, from.begin() + (i + 1) * width);
    };
    one.batch.obs = cut(batch.obs, kObs), one.batch.next_obs = cut(batch.next_obs, kObs);
    one.batch.action = cut(batch.action, kActions), one.batch.reward = cut(batch.reward, 1);
    one.batch.discount = cut(batch.discount, 1);
    one.noise = cut(noise, kActions), one.next_noise = cut(next_noise, kActions);
    return one;
  }

  Trainer<double> trainer;
  Batch<double> batch;
  std::vector<double> noise, next_noise;
};

// The largest difference between a gradient and central differences of `loss` at each parameter.
template <class Change, class Loss>
void ExpectGradient(const std::vector<double>& gradient, Change&& change, Loss&& loss) {
  constexpr double kStep = 1e-5;
  double most = 0;
  for (size_t i = 0; i < gradient.size(); ++i) {
    const auto at = [&](double step) { return loss([&](Trial* trial) { change(trial)[i] += step; }); };
    EXPECT_NEAR(gradient[i], (at(kStep) - at(-kStep)) / (2 * kStep), 1e-7) << "parameter " << i;
    most = std::max(most, std::abs(gradient[i]));
  }
  EXPECT_GT(most, 1e-3) << "there is a gradient";
}

template <class Change>
UpdateStats StatsAfter(const Settings& setup, Change&& change) {
  Trial trial(setup);
  change(&trial);
  trial.trainer.Refresh(false);
  return trial.Update();
}

// The targets do not change with the critics' parameters.
TEST(SacTrainer, CriticsGradientIsTheDerivativeOfTheirLoss) {
  for (const std::vector<int64_t>& hidden : {std::vector<int64_t>{6, 4}, std::vector<int64_t>{}}) {
    Settings setup;
    setup.critic_hidden = hidden;
    Trial trial(setup);
    trial.Update();
    const double* g = trial.trainer.critics().gradient();
    ExpectGradient(
        {g, g + trial.trainer.net().critics_size}, [](Trial* t) { return t->trainer.critics().params(); },
        [&](auto&& change) { return StatsAfter(setup, change).critic_loss; });
  }
}

// Without a step of the critics, whose parameters are part of the actor's loss.
TEST(SacTrainer, ActorsGradientIsTheDerivativeOfItsLoss) {
  for (const std::vector<int64_t>& hidden : {std::vector<int64_t>{6, 4}, std::vector<int64_t>{}}) {
    Settings setup;
    setup.critic_hidden = hidden, setup.options.critic_lr = 1e-300;
    Trial trial(setup);
    trial.Update();
    const double* g = trial.trainer.actor().gradient();
    ExpectGradient(
        {g, g + trial.trainer.net().actor_size}, [](Trial* t) { return t->trainer.actor().params(); },
        [&](auto&& change) { return StatsAfter(setup, change).actor_loss; });
  }
}

TEST(SacTrainer, LossOfABatchIsTheMeanOfItsSingleLosses) {
  for (const bool weighted : {false, true}) {
    Settings setup;
    setup.options.critic_lr = 1e-300;
    Trial all(setup);
    if (weighted) all.batch.weight = {1, .5, .2, .9, .1, .3, .7, .6, .4};
    double critic = 0, actor = 0, q = 0;
    for (int64_t i = 0; i < all.batch.n; ++i) {
      const UpdateStats one = all.Only(setup, i).Update();
      critic += one.critic_loss * (weighted ? all.batch.weight[i] : 1), actor += one.actor_loss, q += one.q;
    }
    const UpdateStats stats = all.Update();
    EXPECT_NEAR(stats.critic_loss, critic / 9, 1e-12);
    EXPECT_NEAR(stats.actor_loss, actor / 9, 1e-12);
    EXPECT_NEAR(stats.q, q / 9, 1e-12);
  }
}

TEST(SacTrainer, TemperatureSendsNoGradientToTheActor) {
  Settings learned, fixed;
  fixed.temperature = Temperature(0.3, false, -2);
  Trial a(learned), b(fixed);
  a.Update(), b.Update();
  const int64_t n = a.trainer.net().actor_size;
  EXPECT_EQ(std::vector<double>(a.trainer.actor().gradient(), a.trainer.actor().gradient() + n),
            std::vector<double>(b.trainer.actor().gradient(), b.trainer.actor().gradient() + n));
  EXPECT_NE(a.trainer.temperature().alpha(), 0.3) << "it learns";
  EXPECT_EQ(b.trainer.temperature().alpha(), 0.3);
}

// The first step of Adam has the length of the rate, towards less weight if the entropy is above its target.
TEST(SacTrainer, TemperatureFallsIfTheEntropyIsAboveItsTarget) {
  Temperature t(1, true, -2);
  t.Step(/*mean_logp=*/1, 0.01);  // entropy -1
  EXPECT_NEAR(std::log(t.alpha()), -0.01, 1e-9);
  Temperature other(1, true, -2);
  other.Step(3, 0.01);
  EXPECT_NEAR(std::log(other.alpha()), 0.01, 1e-9);
}

// Numbers of reference/learning.md: mean 0, deviation 0.5.
TEST(SacSquashed, DensityHasTheReferencesValues) {
  const double head[] = {0, 0, std::log(.5), std::log(.5)};
  const auto logp = [&](double first, double second) {
    const double noise[] = {first / .5, second / .5};
    double u[2];
    return Squashed(head, noise, 2, u);
  };
  EXPECT_NEAR(logp(.3, -1.2), -2.2355232222, 1e-9);
  EXPECT_NEAR(logp(4, -9), -171.2235005843, 1e-9);
}

TEST(SacSquashed, ValueAndGradientAreFiniteFarOutside) {
  for (const float mean : {-20.f, 20.f}) {
    const float head[] = {mean, 0}, noise[] = {1}, dq[] = {3};
    float u[1], d[2];
    const float logp = Squashed(head, noise, 1, u);
    EXPECT_NEAR(logp, -1.4189385f + 2 * (std::abs(mean + 1) - std::log(2.f)), 1e-4);
    const float a[] = {std::tanh(u[0])};
    SquashedBackward(head, noise, a, dq, 1, .2f, 1.f, d);
    EXPECT_NEAR(d[0], mean > 0 ? .4f : -.4f, 1e-6) << "2 alpha tanh(u)";
    EXPECT_TRUE(std::isfinite(d[1]));
  }
}

TEST(SacSquashed, LogDeviationsAreLimited) {
  const double noise[] = {1}, dq[] = {1}, a[] = {.5};
  for (const double log_std : {-30., 5.}) {
    const double head[] = {0, log_std};
    double u[1], d[2];
    Squashed(head, noise, 1, u);
    EXPECT_DOUBLE_EQ(u[0], std::exp(log_std < 0 ? -20. : 2.));
    SquashedBackward(head, noise, a, dq, 1, .2, 1., d);
    EXPECT_EQ(d[1], 0) << "outside, log_std has no gradient";
  }
}

std::vector<double> TargetsAfter(int updates, int64_t interval) {
  Settings setup;
  setup.options.target_update_interval = interval;
  Trial trial(setup);
  for (int i = 0; i < updates; ++i) trial.Update();
  return trial.trainer.targets();
}

TEST(SacTrainer, TargetsHaveTheirOwnCount) {
  EXPECT_EQ(TargetsAfter(9, 10), TargetsAfter(0, 10));
  EXPECT_NE(TargetsAfter(10, 10), TargetsAfter(9, 10));
  EXPECT_EQ(TargetsAfter(19, 10), TargetsAfter(10, 10));
  EXPECT_NE(TargetsAfter(20, 10), TargetsAfter(19, 10));
}

TEST(SacTrainer, ThreadsChangeNoBit) {
  Settings one, other;
  other.parallel = Backwards();
  Trial a(one, 300), b(other, 300);
  for (int i = 0; i < 3; ++i) a.Update(), b.Update();
  const auto params = [](Trial& t) {
    return std::vector<double>(t.trainer.critics().params(), t.trainer.critics().params() + t.trainer.net().critics_size);
  };
  EXPECT_EQ(params(a), params(b));
  EXPECT_EQ(a.trainer.errors(), b.trainer.errors());
}

TEST(SacTrainer, NumbersThatAreNotFiniteAreErrors) {
  Trial trial({});
  trial.batch.reward[3] = std::nan("");
  EXPECT_THROW(trial.Update(), bp::Error);
}

}  // namespace
}  // namespace backplane::sac
