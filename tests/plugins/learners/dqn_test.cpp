// Acting and targets of learner.dqn; replay_learner_test.cpp has its other tests.
#include <gmock/gmock.h>

#include <algorithm>

#include "replay_trial.hpp"

namespace backplane {
namespace {

using test_support::ReplayTrial;
using testing::HasSubstr;

using Settings = std::map<std::string, std::string>;

Settings With(Settings more) {
  more.insert({{"hidden", "[8]"}, {"batch_size", "8"}, {"learning_starts", "0"}, {"horizon", "100"}, {"train_freq", "1"}});
  return more;
}

std::vector<double> Epsilons(ReplayTrial& trial) { return trial.host().metrics["train/epsilon"]; }

TEST(Dqn, EpsilonFallsOverEnvSteps) {
  ReplayTrial trial(With({{"epsilon_initial", "0.9"}, {"epsilon_final", "0.1"}, {"epsilon_steps", "800"}}));
  for (int i = 0; i < 5; ++i) ASSERT_EQ(trial.Iterate(), BP_OK) << trial.error();
  EXPECT_THAT(Epsilons(trial), testing::Pointwise(testing::DoubleNear(1e-9), std::vector<double>{.7, .5, .3, .1, .1}))
      << "2 rows";
}

TEST(Dqn, EpsilonFallsOverAShareOfTheBudget) {
  ReplayTrial trial(With({{"epsilon_final", "0.2"}, {"epsilon_steps", "0.5"}}));
  for (const double progress : {0., .25, .5}) {
    ASSERT_EQ(trial.Iterate(10, progress), BP_OK) << trial.error();
  }
  EXPECT_THAT(Epsilons(trial), testing::Pointwise(testing::DoubleNear(1e-9), std::vector<double>{1, .6, .2}));
}

// The share of choices that differ from the greedy ones is epsilon times 2 / 3.
TEST(Dqn, ExploresWithProbabilityEpsilon) {
  const auto actions = [](const char* epsilon) {
    ReplayTrial trial(With({{"epsilon_steps", "0"}, {"epsilon_final", epsilon}, {"lr", "1e-300"}, {"horizon", "2000"}}));
    EXPECT_EQ(trial.Iterate(), BP_OK) << trial.error();
    return trial.env_actions();
  };
  const std::vector<float> greedy = actions("0"), noisy = actions("0.3");
  double different = 0;
  for (size_t i = 0; i < greedy.size(); ++i) different += greedy[i] != noisy[i];
  EXPECT_NEAR(different / static_cast<double>(greedy.size()), .2, .025);
  EXPECT_NE(std::count(greedy.begin(), greedy.end(), greedy[0]), static_cast<int64_t>(greedy.size()));
}

TEST(Dqn, ALoadedPolicyExploresWithTheFinalEpsilon) {
  const Settings settings = With({{"epsilon_steps", "100000"}, {"epsilon_final", "0"}, {"lr", "1e-300"}});
  ReplayTrial first(settings), started(settings),
      greedy(With({{"epsilon_steps", "0"}, {"epsilon_final", "0"}, {"lr", "1e-300"}}));
  ASSERT_EQ(first.Iterate(), BP_OK);
  for (ReplayTrial* each : {&started, &greedy}) {
    ASSERT_EQ(each->StartPolicy(first.SavedPolicy()), BP_OK) << each->error();
    ASSERT_EQ(each->Iterate(), BP_OK) << each->error();
  }
  EXPECT_EQ(started.env_actions(), greedy.env_actions());
  EXPECT_NE(started.env_actions(), first.env_actions());
}

// Target updates have their own count: at frames 5, 10, 15, ... of 2 rows, whatever the parts.
TEST(Dqn, TargetsFollowEnvSteps) {
  const auto target = [](ReplayTrial& trial) {
    constexpr size_t kParams = 4 * 8 + 8 + 8 * 3 + 3, kSchedule = sizeof(uint64_t) + 2 * sizeof(double);
    const std::string policy = trial.SavedPolicy();
    return policy.substr(policy.size() - kSchedule - kParams * sizeof(float), kParams * sizeof(float));
  };
  ReplayTrial trial(With({{"target_update_interval", "10"}, {"train_freq", "3"}, {"horizon", "3"}, {"epsilon_steps", "0"}}));
  std::vector<int64_t> changes;
  ASSERT_EQ(trial.Iterate(), BP_OK);
  std::string before = target(trial);
  for (int i = 2; i <= 10; ++i) {
    ASSERT_EQ(trial.Iterate(), BP_OK) << trial.error();
    if (target(trial) != before) changes.push_back(3 * i);
    before = target(trial);
  }
  EXPECT_EQ(changes, (std::vector<int64_t>{6, 12, 15, 21, 27, 30}))
      << "the ends of the parts with frames 5, 10, 15, 20, 25, 30";
}

TEST(Dqn, MaskedChoicesAreNeverTaken) {
  for (const char* epsilon : {"0", "1"}) {
    ReplayTrial trial(With({{"epsilon_steps", "0"}, {"epsilon_final", epsilon}}), 2, {.masked = true});
    ASSERT_EQ(trial.Iterate(), BP_OK) << trial.error();
    const auto& [actions, mask] = std::pair{trial.env_actions(), trial.stored().mask};
    ASSERT_EQ(actions.size() * ReplayTrial::kActions, mask.size());
    EXPECT_GT(std::count(mask.begin(), mask.end(), 0), 50);
    for (size_t i = 0; i < actions.size(); ++i)
      EXPECT_TRUE(mask[i * ReplayTrial::kActions + static_cast<size_t>(actions[i])]) << i;
    EXPECT_LT(*std::min_element(actions.begin(), actions.end()), *std::max_element(actions.begin(), actions.end()));
  }
}

TEST(Dqn, RejectsAMaskWithoutAChoice) {
  for (const char* epsilon : {"0", "1"}) {
    ReplayTrial trial(With({{"epsilon_steps", "0"}, {"epsilon_final", epsilon}}), 2, {.masked = true});
    trial.forbids_all = true;
    EXPECT_EQ(trial.Iterate(), BP_E_INVALID_ARG);
    EXPECT_THAT(trial.error(), HasSubstr("an action mask allows no choice"));
  }
}

// The newest frame has no successor with a mask yet.
TEST(Dqn, WithAMaskALearnerWaitsForTheNextFrame) {
  for (const bool masked : {false, true}) {
    ReplayTrial trial(With({{"horizon", "3"}}), 2, {.masked = masked});
    ASSERT_EQ(trial.Iterate(), BP_OK) << trial.error();
    EXPECT_EQ(trial.host().metrics["train/updates"], std::vector<double>{masked ? 2. : 3.});
  }
}

TEST(Dqn, HugeRewardsLeaveFiniteGradients) {
  ReplayTrial trial(With({}));
  trial.reward_scale = 1e30;
  EXPECT_EQ(trial.Iterate(), BP_OK) << "Huber's loss is linear";
}

}  // namespace
}  // namespace backplane
