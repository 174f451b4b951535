// The losses and gradients of DQN by themselves, without host and replay buffer, in double: compared with differences of the
// loss, hand-made numbers and properties.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "backplane/rng.h"
#include "off_policy/biases.hpp"
#include "trainer.hpp"

namespace backplane::dqn {
namespace {

constexpr int64_t kObs = 3, kChoices = 4;

struct Settings {
  std::vector<int64_t> hidden = {7, 5};
  bool dueling = false, masked = false;
  TrainerOptions options{.lr = 1e-3, .grad_clip = 0};
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
      : trainer(Net({kObs, kChoices, s.hidden, Activation::kTanh, s.dueling, s.masked}), s.options, s.parallel, "") {
    const std::vector<double> params = Normals(trainer.net().size, 1, .6), target = Normals(trainer.net().size, 2, .6);
    std::copy(params.begin(), params.end(), trainer.optimizer().params());
    trainer.target() = target;
    trainer.Refresh(false);
    batch.n = n;
    batch.obs = Normals(n * kObs, 6), batch.next_obs = Normals(n * kObs, 7);
    batch.reward = Normals(n, 9), batch.discount.assign(static_cast<size_t>(n), .99);
    batch.discount[0] = 0;
    batch.action.assign(static_cast<size_t>(n * trainer.net().stored()), 1);
    for (int64_t i = 0; i < n; ++i) batch.action[i * trainer.net().stored()] = static_cast<double>(i % kChoices);
    if (s.masked) batch.next_action = batch.action;
  }
  UpdateStats Update() { return trainer.Update(batch); }

  Trainer<double> trainer;
  Batch<double> batch;
};

TEST(DqnTrainer, GradientIsTheDerivativeOfTheLoss) {
  for (const bool dueling : {false, true}) {
    Settings setup;
    setup.dueling = dueling;
    Trial trial(setup);
    trial.Update();
    EXPECT_GT(*std::max_element(trial.trainer.errors().begin(), trial.trainer.errors().end()), 1) << "some are linear";
    EXPECT_LT(*std::min_element(trial.trainer.errors().begin(), trial.trainer.errors().end()), 1);
    for (int64_t i = 0; i < trial.trainer.net().size; ++i) {
      const auto at = [&](double step) {
        Trial other(setup);
        other.trainer.optimizer().params()[i] += step;
        other.trainer.Refresh(false);
        return other.Update().loss;
      };
      EXPECT_NEAR(trial.trainer.optimizer().gradient()[i], (at(1e-5) - at(-1e-5)) / 2e-5, 1e-7) << "parameter " << i;
    }
  }
}

// Q of a state does not depend on the other states of a batch.
TEST(DqnTrainer, LossOfABatchIsTheMeanOfItsSingleLosses) {
  for (const bool double_q : {false, true}) {
    Settings setup;
    setup.dueling = true, setup.options.double_q = double_q;
    Trial all(setup);
    all.batch.weight = {1, .5, .2, .9, .1, .3, .7, .6, .4};
    double sum = 0;
    for (int64_t i = 0; i < all.batch.n; ++i) {
      Trial one(setup, 1);
      std::copy_n(&all.batch.obs[i * kObs], kObs, one.batch.obs.data());
      std::copy_n(&all.batch.next_obs[i * kObs], kObs, one.batch.next_obs.data());
      one.batch.action[0] = all.batch.action[i], one.batch.reward[0] = all.batch.reward[i];
      one.batch.discount[0] = all.batch.discount[i];
      sum += all.batch.weight[i] * one.Update().loss;
    }
    EXPECT_NEAR(all.Update().loss, sum / 9, 1e-12);
  }
}

TEST(DqnTrainer, DuelingValuesAreRelativeToTheMean) {
  Net net({kObs, 3, {}, Activation::kRelu, true, false});
  const double head[] = {1, 2, 6, 10};
  double values[3];
  Values(net, head, values);
  EXPECT_EQ(std::vector<double>(values, values + 3), (std::vector<double>{8, 9, 13}));
}

TEST(DqnTrainer, ForbiddenChoicesAreNoTargets) {
  const double values[] = {1, 5, 5, 3};
  const double mask[] = {1, 0, 0, 1}, second[] = {1, 0, 1, 1}, none[] = {0, 0, 0, 0};
  EXPECT_EQ(Best(values, static_cast<const double*>(nullptr), 4), 1);
  EXPECT_EQ(Best(values, mask, 4), 3);
  EXPECT_EQ(Best(values, second, 4), 2);
  EXPECT_EQ(Best(values, none, 4), -1);
  for (const bool double_q : {false, true}) {
    Settings setup;
    setup.masked = true, setup.options.double_q = double_q, setup.options.lr = 1e-300;
    Trial all(setup), one(setup);
    for (int64_t i = 0; i < one.batch.n; ++i)  // only choice 2 follows
      for (const int64_t k : {0, 1, 3}) one.batch.next_action[i * (1 + kChoices) + 1 + k] = 0;
    const double free = all.Update().loss, bound = one.Update().loss;
    EXPECT_NE(free, bound);
    for (double& r : one.batch.next_action) r = 1;
    EXPECT_EQ(one.Update().loss, free);
  }
}

TEST(DqnTrainer, InitialBiasesAreUniform) {
  const Net net({4, 2, {100}});
  std::vector<float> params(static_cast<size_t>(net.size));
  InitBiases({{&net.tower, params.data()}}, 1);
  const nn::Layer &first = net.tower.hidden[0], &head = net.tower.head;
  const auto [least, most] = std::minmax_element(&params[first.bias], &params[first.bias + first.out]);
  EXPECT_NEAR(*least, -.5, .05);
  EXPECT_NEAR(*most, .5, .05);
  EXPECT_EQ(std::count(params.begin(), params.end(), 0.f), net.size - first.out - head.out) << "only biases";
  EXPECT_LT(std::abs(params[head.bias]), .1);
  EXPECT_NE(params[head.bias], params[head.bias + 1]);
}

TEST(DqnTrainer, TargetMovesByTau) {
  Settings setup;
  setup.options.tau = .25;
  Trial trial(setup);
  const double before = trial.trainer.target()[3], param = trial.trainer.optimizer().params()[3];
  trial.trainer.UpdateTarget();
  EXPECT_DOUBLE_EQ(trial.trainer.target()[3], .75 * before + .25 * param);
}

TEST(DqnTrainer, ThreadsChangeNoBit) {
  Settings one, other;
  one.options.double_q = other.options.double_q = true;
  other.parallel = [](uint64_t n, const std::function<void(uint64_t)>& body) {
    while (n-- > 0) body(n);
  };
  Trial a(one, 300), b(other, 300);
  for (int i = 0; i < 3; ++i) a.Update(), b.Update();
  const auto params = [](Trial& t) {
    return std::vector<double>(t.trainer.optimizer().params(), t.trainer.optimizer().params() + t.trainer.net().size);
  };
  EXPECT_EQ(params(a), params(b));
  EXPECT_EQ(a.trainer.errors(), b.trainer.errors());
}

TEST(DqnTrainer, NumbersThatAreNotFiniteAreErrors) {
  Trial trial({});
  trial.batch.reward[3] = std::nan("");
  EXPECT_THROW(trial.Update(), bp::Error);
}

}  // namespace
}  // namespace backplane::dqn
