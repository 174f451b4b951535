#include "rollout/non_finite.hpp"

#include <gtest/gtest.h>

#include "toy_plugins.hpp"

namespace backplane::toy {
namespace {

constexpr uint64_t kManyRows = 10, kSteps = 50;

// The error of a failing rollout.
std::string Failure(ToyTrial& trial) {
  try {
    trial.Collect(kSteps);
  } catch (const TrialFailure& e) {
    EXPECT_EQ(e.status(), BP_E_NUMERIC);
    EXPECT_EQ(e.plugin(), "env.toy");
    return e.what();
  }
  return "no failure";
}

// The toy learner computes its action from element 2.
TEST(NonFinite, ObservationIsNamedBeforeItsAction) {
  ToyTrial trial(kManyRows, 2, 3);
  g_switches.nan_obs = {.row = 3, .slot = 4, .element = 2};
  EXPECT_EQ(Failure(trial),
            "env.toy: observation obs[2] of row 3 is not finite at step 5 of the rollout; "
            "then: learner.toy acts: action[0] of row 3: expected a finite number, got nan at step 6 of the rollout");
}

TEST(NonFinite, BothOfOneStepAreNamedTogether) {
  ToyTrial trial(kManyRows, 2, 3);
  g_switches.nan_row = 3;
  g_switches.nan_obs = {.row = 3, .slot = 0, .element = 1};
  EXPECT_EQ(Failure(trial), "env.toy: observation obs[1] of row 3 is not finite at step 1 of the rollout, nor is the reward");
}

TEST(NonFinite, RewardIsNamedWithItsStep) {
  ToyTrial trial(kManyRows, 2, 3);
  g_switches.nan_row = 3;
  EXPECT_EQ(Failure(trial), "env.toy: the reward of row 3 is not a finite number at step 1 of the rollout");
}

TEST(NonFinite, ObservationOfADifferentRowIsNotTheSource) {
  ToyTrial trial(kManyRows, 1);
  g_switches.nan_row = 3;
  g_switches.nan_obs = {.row = 2, .slot = 0, .element = 1};
  EXPECT_EQ(Failure(trial), "env.toy: the reward of row 3 is not a finite number at step 1 of the rollout");
}

TEST(NonFinite, AFiniteRolloutHasNone) {
  ToyTrial trial(kManyRows, 2, 3);
  EXPECT_FALSE(trial.collector->NonFiniteObservation()) << "before the first rollout";
  ASSERT_TRUE(trial.Collect(kSteps));
  EXPECT_FALSE(trial.collector->NonFiniteObservation());
}

TEST(NonFinite, IsFoundAmongObservationsWithoutAnAction) {
  ToyTrial trial(kManyRows, 2, 3);
  g_switches.nan_obs = {.row = 7, .slot = kSteps - 1, .element = 1};
  ASSERT_TRUE(trial.Collect(kSteps));
  const auto found = trial.collector->NonFiniteObservation();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->text, "observation obs[1] of row 7 is not finite at step 50 of the rollout");
  g_switches.nan_obs.reset();
  ASSERT_TRUE(trial.Collect(kSteps));
  EXPECT_EQ(trial.collector->NonFiniteObservation()->text,
            "observation obs[1] of row 7 is not finite at the start of the rollout");
}

TEST(NonFinite, IsFoundInTheLastObservationOfAnEpisode) {
  ToyTrial first(kManyRows, 1);
  ASSERT_TRUE(first.Collect(kSteps));
  const Episode end = first.collector->episodes().at(5);

  ToyTrial trial(kManyRows, 2, 3);  // the same seed, the same episodes
  g_switches.nan_obs = {.row = end.row, .slot = static_cast<uint32_t>(end.t), .element = 1};
  ASSERT_TRUE(trial.Collect(kSteps));
  const auto found = trial.collector->NonFiniteObservation();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->step, end.t + 1);
  EXPECT_EQ(found->row, end.row);
}

}  // namespace
}  // namespace backplane::toy
