// Begin and end of episodes, against expectations written by hand. A cart at rest with an upright pole does not fall; one at
// the edge falls with the next push.
#include <gmock/gmock.h>

#include <cmath>

#include "backplane/rng.h"
#include "env.hpp"

namespace backplane::embed_test {
namespace {

using testing::HasSubstr;

const std::vector<double> kCalm = {0, 0, 0, 0}, kFalls = {2.39, 1, 0, 0};
// kFalls after a push to the right: x + 0.02 x_dot, and x_dot + 0.02 * 9.7561 (equations of Barto, Sutton and Anderson).
constexpr float kFallenX = 2.41f;

// Two rows: row 0 falls in the next step, row 1 does not.
class AutoresetTest : public testing::Test {
 protected:
  void Start(int32_t mode) {
    ASSERT_EQ(bp_embed_autoreset(env.handle, mode), BP_OK);
    env.Reset();
    env.SetState(0, "state", kFalls);
    env.SetState(1, "state", kCalm);
    action(0) = action(1) = 1;
  }
  // The first observation of row 0's episode `number`: a reset draws four numbers from +-0.05 with its seed.
  float FirstX(uint64_t number) const {
    bp_rng rng{bp_seed(1, BP_PURPOSE_ENV_EPISODE, 0, number), 0};
    return static_cast<float>(bp_rng_range(&rng, -0.05, 0.05));
  }

  Env env{"cartpole", 2};
  View<int32_t> action = env.Of<int32_t>("action");
  View<float> obs = env.Of<float>("obs"), final_obs = env.Of<float>("final_obs"), reward = env.Of<float>("reward");
  View<uint8_t> terminated = env.Of<uint8_t>("terminated"), truncated = env.Of<uint8_t>("truncated");
  View<double> ep_return = env.Of<double>("ep_return");
  View<int64_t> ep_length = env.Of<int64_t>("ep_length");
};

TEST_F(AutoresetTest, SameStepShowsTheNewEpisodeAndKeepsTheLastObservation) {
  Start(BP_AUTORESET_SAME_STEP);
  env.Step();
  EXPECT_EQ(terminated(0), 1);
  EXPECT_EQ(reward(0), 1);
  EXPECT_FLOAT_EQ(final_obs(0), kFallenX);
  EXPECT_EQ(obs(0), FirstX(1));
  EXPECT_EQ(ep_length(0), 1);
  EXPECT_EQ(terminated(1), 0);
  env.Step();
  EXPECT_EQ(terminated(0), 0);
  EXPECT_NEAR(obs(0), FirstX(1), 0.0011) << "after the reset the cart moved for 0.02 s at 0.05 m/s at most";
}

TEST_F(AutoresetTest, NextStepShowsTheLastObservationThenTheReset) {
  Start(BP_AUTORESET_NEXT_STEP);
  env.Step();
  EXPECT_EQ(terminated(0), 1);
  EXPECT_FLOAT_EQ(obs(0), kFallenX);
  const float before = obs(1, 1);
  action(0) = 77;  // ignored: the row resets in this step
  env.Step();
  EXPECT_EQ(obs(0), FirstX(1));
  EXPECT_EQ(reward(0), 0);
  EXPECT_EQ(terminated(0) | truncated(0), 0);
  EXPECT_NE(obs(1, 1), before) << "the other row steps";
  EXPECT_EQ(reward(1), 1);
  EXPECT_EQ(bp_embed_step(env.handle), BP_E_INVALID_ARG) << "77 is invalid for a row that steps";
  EXPECT_THAT(bp_embed_error(), HasSubstr("action of row 0: expected a whole number from 0 to 1, got 77"));
  action(0) = 1;
  env.Step();
  EXPECT_EQ(reward(0), 1);
}

TEST_F(AutoresetTest, DisabledWaitsForAResetOfTheRow) {
  Start(BP_AUTORESET_DISABLED);
  env.Step();
  EXPECT_EQ(terminated(0), 1);
  EXPECT_FLOAT_EQ(obs(0), kFallenX);
  const float before = obs(1, 1);
  EXPECT_EQ(bp_embed_step(env.handle), BP_E_INVALID_ARG);
  EXPECT_STREQ(bp_embed_error(), "row 0 has no running episode\nhint: call bp_embed_reset first");
  EXPECT_EQ(obs(1, 1), before) << "no row stepped";
  const uint8_t mask[] = {1, 0};
  env.Reset(mask);
  EXPECT_EQ(obs(0), FirstX(1));
  EXPECT_EQ(obs(1, 1), before);
  EXPECT_EQ(terminated(0), 0);
  env.Step();
  EXPECT_EQ(reward(0), 1);
}

TEST_F(AutoresetTest, TheHostCutsAtTheTimeLimit) {
  Env short_env("cartpole", 1, R"({"max_episode_steps": 3})");
  short_env.Reset();
  short_env.SetState(0, "state", kCalm);
  const View<uint8_t> ended = short_env.Of<uint8_t>("terminated"), cut = short_env.Of<uint8_t>("truncated");
  for (const int expected : {0, 0, 1, 0, 0, 1}) {
    short_env.Step();
    EXPECT_EQ(cut(0), expected);
    EXPECT_EQ(ended(0), 0);
  }
  EXPECT_EQ(short_env.Of<int64_t>("ep_length")(0), 3);
  EXPECT_EQ(short_env.Of<double>("ep_return")(0), 3);
}

TEST_F(AutoresetTest, ChangeOfModeEndsAllEpisodes) {
  Start(BP_AUTORESET_SAME_STEP);
  ASSERT_EQ(bp_embed_autoreset(env.handle, BP_AUTORESET_DISABLED), BP_OK);
  EXPECT_EQ(env.Spec().at("autoreset"), "disabled");
  EXPECT_EQ(bp_embed_step(env.handle), BP_E_INVALID_ARG);
  EXPECT_EQ(bp_embed_autoreset(env.handle, 3), BP_E_INVALID_ARG);
  EXPECT_STREQ(bp_embed_error(), "autoreset: expected 0 (SAME_STEP), 1 (NEXT_STEP) or 2 (DISABLED), got 3");
}

TEST(Seeds, DecideAllEpisodesOfARow) {
  Env three("cartpole", 3), one("cartpole", 1);
  const uint64_t seeds[] = {5, 9, 7};
  three.Reset(nullptr, seeds);
  one.Reset(nullptr, seeds + 2);
  for (int t = 0; t < 100; ++t) {
    ASSERT_EQ(three.Of<float>("obs")(2, 0), one.Of<float>("obs")(0, 0)) << t;
    for (uint64_t r = 0; r < 3; ++r) three.Of<int32_t>("action")(r) = 1;
    one.Of<int32_t>("action")(0) = 1;
    three.Step();
    one.Step();
  }
  EXPECT_GT(one.Of<int64_t>("ep_length")(0), 0) << "an episode has ended meanwhile";
  bp_rng rng{7, 0};
  one.Reset(nullptr, seeds + 2);
  EXPECT_EQ(one.Of<float>("obs")(0), static_cast<float>(bp_rng_range(&rng, -0.05, 0.05)))
      << "the first episode's seed is the one given";
}

TEST(Seeds, DefaultToTheNextEpisode) {
  Env env("cartpole", 1), other("cartpole", 1, nullptr, 2);
  env.Reset();
  const std::string first = env.Bytes("obs");
  env.Reset();
  EXPECT_NE(env.Bytes("obs"), first);
  ASSERT_EQ(bp_embed_seed(other.handle, 1), BP_OK);
  other.Reset();
  EXPECT_EQ(other.Bytes("obs"), first) << "as if opened with that seed";
}

// An env that resets itself within a step.
TEST(SelfResetting, HasSameStepOnly) {
  Env env(nullptr, 3, nullptr, 1, 0, RESETS_ITSELF);
  for (const int32_t mode : {BP_AUTORESET_NEXT_STEP, BP_AUTORESET_DISABLED}) {
    EXPECT_EQ(bp_embed_autoreset(env.handle, mode), BP_E_UNSUPPORTED);
    EXPECT_THAT(bp_embed_error(), HasSubstr("resets itself in the step that ends an episode, so it supports only SAME_STEP"));
  }
  ASSERT_EQ(bp_embed_autoreset(env.handle, BP_AUTORESET_SAME_STEP), BP_OK);
  env.Reset();
  const View<float> obs = env.Of<float>("obs"), last = env.Of<float>("final_obs");
  EXPECT_EQ(obs(1), static_cast<float>(bp_seed(1, BP_PURPOSE_ENV_EPISODE, 1, 0) % 1000));
  for (int t = 1; t <= 4; ++t) env.Step();  // episodes of 4 steps, each counting up from its seed
  EXPECT_EQ(env.Of<uint8_t>("truncated")(1), 1);
  EXPECT_EQ(last(1), static_cast<float>(bp_seed(1, BP_PURPOSE_ENV_EPISODE, 1, 0) % 1000 + 4));
  EXPECT_EQ(obs(1), static_cast<float>(bp_seed(1, BP_PURPOSE_ENV_EPISODE, 1, 1) % 1000)) << "the next episode has its own seed";
  EXPECT_EQ(env.Of<int64_t>("ep_length")(1), 4);
}

}  // namespace
}  // namespace backplane::embed_test
