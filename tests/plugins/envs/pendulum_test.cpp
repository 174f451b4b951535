#include <algorithm>

#include "places.hpp"
#include "support/env_harness.hpp"

namespace {

const std::string kPendulum = BACKPLANE_PLUGIN_DIR "/env_pendulum.so";

float Push(harness::Env& env, double torque) {
  *env.At<float>("action") = static_cast<float>(torque);
  EXPECT_EQ(env.Step(), BP_OK);
  return *env.At<float>("reward");
}

TEST(Pendulum, FollowsTheOfficialTrajectory) {
  harness::Env env(kPendulum, 1);
  harness::StartAt(env, {M_PI / 2, 1});
  double sum = 0;
  for (int t = 1; t <= 100; ++t) {
    const float reward = Push(env, 2 * std::sin(0.3 * (t - 1)));
    if (t == 1) {
      EXPECT_FLOAT_EQ(reward, -2.5674011003);
    }
    sum += reward;
    EXPECT_EQ(*env.At<uint8_t>("terminated"), 0);
  }
  EXPECT_NEAR(sum, -585.2741880897, 100 * 1e-6) << "rewards are float32 of up to 16";
  EXPECT_FLOAT_EQ(env.Obs()[0], .39462686);
  EXPECT_FLOAT_EQ(env.Obs()[1], -.91884148);
  EXPECT_FLOAT_EQ(env.Obs()[2], 2.9773762);
}

TEST(Pendulum, ClipsItsTorqueAndItsSpeed) {
  harness::Env strong(kPendulum, 1), clipped(kPendulum, 1);
  harness::StartAt(strong, {1, 0}), harness::StartAt(clipped, {1, 0});
  for (int t = 0; t < 50; ++t) {
    EXPECT_EQ(Push(strong, 100), Push(clipped, 2));
    EXPECT_LE(std::abs(strong.Obs()[2]), 8.0f);
  }
  EXPECT_TRUE(std::equal(strong.Obs(), strong.Obs() + 3, clipped.Obs()));
}

TEST(Pendulum, HidesItsSpeedAndMovesAlike) {
  harness::Env all(kPendulum, 1), positions(kPendulum, 1, 1, {{"observe", "positions"}});
  harness::StartAt(all, {1, 0.5}), harness::StartAt(positions, {1, 0.5});
  for (int t = 0; t < 20; ++t) {
    ASSERT_EQ(positions.Obs()[0], all.Obs()[0]) << t;
    ASSERT_EQ(positions.Obs()[1], all.Obs()[1]) << t;
    EXPECT_EQ(Push(positions, 1), Push(all, 1));
  }
}

TEST(Pendulum, PaysForTheAngleOfTheShorterWay) {
  harness::Env env(kPendulum, 1);
  harness::StartAt(env, {2 * M_PI - 0.5, 0});
  EXPECT_FLOAT_EQ(Push(env, 0), -0.25);
  harness::StartAt(env, {-2 * M_PI - 0.5, 0});
  EXPECT_FLOAT_EQ(Push(env, 0), -0.25);
}

TEST(Pendulum, HangsStillWithoutGravity) {
  harness::Env env(kPendulum, 1, 1, {{"g", 0}});
  harness::StartAt(env, {2, 0});
  for (int t = 0; t < 10; ++t) Push(env, 0);
  EXPECT_FLOAT_EQ(env.Obs()[0], std::cos(2.0));
}

TEST(Pendulum, StartsAnywhereOnTheCircle) {
  constexpr uint64_t kRows = 4000;
  harness::Env env(kPendulum, kRows);
  std::vector<uint64_t> seeds(kRows);
  for (size_t i = 0; i < kRows; ++i) seeds[i] = i;
  ASSERT_EQ(env.Reset(0, seeds), BP_OK);
  double cosine = 0, sine = 0, squares = 0;
  for (uint64_t r = 0; r < kRows; ++r) {
    const float* obs = env.Obs(r);
    EXPECT_LE(std::abs(obs[2]), 1.0f);
    cosine += obs[0] / kRows, sine += obs[1] / kRows, squares += obs[2] * obs[2] / kRows;
  }
  EXPECT_NEAR(cosine, 0, 0.045) << "four standard errors";
  EXPECT_NEAR(sine, 0, 0.045);
  EXPECT_NEAR(squares, 1.0 / 3, 0.02);
}

TEST(Pendulum, TakesItsTimeLimitFromTheOptions) {
  EXPECT_EQ(harness::Env(kPendulum, 1).spec().max_episode_steps, 200);
  EXPECT_EQ(harness::Env(kPendulum, 1, 1, {{"max_episode_steps", 50}}).spec().max_episode_steps, 50);
}

}  // namespace
