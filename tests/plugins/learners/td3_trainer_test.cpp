// The losses and gradients of TD3 by themselves, without host and replay buffer, in double: compared with differences of the
// losses, and properties.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "backplane/rng.h"
#include "trainer.hpp"

namespace backplane::td3 {
namespace {

constexpr int64_t kObs = 3, kActions = 2;

struct Settings {
  std::vector<int64_t> hidden = {7, 5}, critic_hidden = {6, 4};
  TrainerOptions options{.policy_delay = 1};
  Parallel parallel = OnOneThread();
};

std::vector<double> Normals(int64_t n, uint64_t seed, double scale = 1) {
  std::vector<double> out(static_cast<size_t>(n));
  bp_rng rng{seed, 0};
  for (double& x : out) x = scale * bp_rng_normal(&rng);
  return out;
}

// Differences need a smooth function, so tanh.
struct Trial {
  explicit Trial(const Settings& s, int64_t n = 9)
      : trainer(Net({kObs, kActions, s.hidden, s.critic_hidden, Activation::kTanh}), s.options, s.parallel, ""),
        noise(Normals(n * kActions, 5)) {
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
  UpdateStats Update() { return trainer.Update(batch, noise.data()); }

  Trainer<double> trainer;
  Batch<double> batch;
  std::vector<double> noise;
};

// Compares a gradient with central differences of `loss` at each parameter.
template <class Params, class Loss>
void ExpectGradient(const Settings& setup, const double* gradient, int64_t n, Params&& params, Loss&& loss) {
  constexpr double kStep = 1e-5;
  double most = 0;
  for (int64_t i = 0; i < n; ++i) {
    const auto at = [&](double step) {
      Trial trial(setup);
      params(&trial)[i] += step;
      trial.trainer.Refresh(false);
      return loss(trial.Update());
    };
    EXPECT_NEAR(gradient[i], (at(kStep) - at(-kStep)) / (2 * kStep), 1e-7) << "parameter " << i;
    most = std::max(most, std::abs(gradient[i]));
  }
  EXPECT_GT(most, 1e-3) << "there is a gradient";
}

TEST(Td3Trainer, CriticsGradientIsTheDerivativeOfTheirLoss) {
  Trial trial({});
  trial.Update();
  ExpectGradient(
      {}, trial.trainer.critics().gradient(), trial.trainer.net().critics_size,
      [](Trial* t) { return t->trainer.critics().params(); }, [](const UpdateStats& s) { return s.critic_loss; });
}

// Without a step of the critics, whose parameters are part of the actor's loss.
TEST(Td3Trainer, ActorsGradientIsTheDerivativeOfItsLoss) {
  for (const std::vector<int64_t>& hidden : {std::vector<int64_t>{6, 4}, std::vector<int64_t>{}}) {
    Settings setup;
    setup.critic_hidden = hidden, setup.options.critic_lr = 1e-300;
    Trial trial(setup);
    trial.Update();
    ExpectGradient(
        setup, trial.trainer.actor().gradient(), trial.trainer.net().actor_size,
        [](Trial* t) { return t->trainer.actor().params(); }, [](const UpdateStats& s) { return s.actor_loss; });
  }
}

// The noise moves only the targets, never beyond its limit, and no action beyond 1.
TEST(Td3Trainer, TargetNoiseIsClipped) {
  const auto loss = [](double noise, double clip, double scale) {
    Settings setup;
    setup.options.target_noise = noise, setup.options.target_noise_clip = clip;
    Trial trial(setup);
    for (double& x : trial.noise) x *= scale;
    return trial.Update().critic_loss;
  };
  EXPECT_NE(loss(.2, .5, 1), loss(0, .5, 1));
  EXPECT_EQ(loss(.2, .5, 1e6), loss(.2, .5, 1e7));
  EXPECT_NE(loss(.2, .5, 1e6), loss(.2, .4, 1e6));
  EXPECT_EQ(loss(.2, 0, 1), loss(0, .5, 1));
  EXPECT_EQ(loss(.2, 5, 1e6), loss(.2, 9, 1e6));
}

TEST(Td3Trainer, ActorAndTargetsWaitForTheDelay) {
  Settings setup;
  setup.options.policy_delay = 3;
  Trial trial(setup);
  const auto numbers = [&] {
    std::vector<double> all(trial.trainer.actor().params(), trial.trainer.actor().params() + trial.trainer.net().actor_size);
    all.insert(all.end(), trial.trainer.targets().begin(), trial.trainer.targets().end());
    all.insert(all.end(), trial.trainer.actor_target().begin(), trial.trainer.actor_target().end());
    return all;
  };
  const std::vector<double> first = numbers();
  trial.Update(), trial.Update();
  EXPECT_EQ(numbers(), first);
  EXPECT_TRUE(trial.Update().actor_stepped);
  const std::vector<double> third = numbers();
  for (size_t i = 0; i < first.size(); i += 20) EXPECT_NE(third[i], first[i]);
  trial.Update(), trial.Update();
  EXPECT_EQ(numbers(), third);
}

TEST(Td3Trainer, ThreadsChangeNoBit) {
  Settings other;
  other.parallel = [](uint64_t n, const std::function<void(uint64_t)>& body) {
    while (n-- > 0) body(n);
  };
  Trial a({}, 300), b(other, 300);
  for (int i = 0; i < 3; ++i) a.Update(), b.Update();
  const auto params = [](Trial& t) {
    return std::vector<double>(t.trainer.actor().params(), t.trainer.actor().params() + t.trainer.net().actor_size);
  };
  EXPECT_EQ(params(a), params(b));
  EXPECT_EQ(a.trainer.errors(), b.trainer.errors());
}

TEST(Td3Trainer, NumbersThatAreNotFiniteAreErrors) {
  Trial trial({});
  trial.batch.reward[3] = std::nan("");
  EXPECT_THROW(trial.Update(), bp::Error);
}

}  // namespace
}  // namespace backplane::td3
