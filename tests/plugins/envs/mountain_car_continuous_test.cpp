#include "places.hpp"
#include "support/env_harness.hpp"

namespace {

const std::string kMountainCar = BACKPLANE_PLUGIN_DIR "/env_mountain_car_continuous.so";

float Drive(harness::Env& env, double action) {
  *env.At<float>("action") = static_cast<float>(action);
  EXPECT_EQ(env.Step(), BP_OK);
  return *env.At<float>("reward");
}

// Pushes in the car's direction until the goal or `limit` steps; returns the steps and the return.
std::pair<int, double> Swing(harness::Env& env, int limit) {
  double sum = 0;
  float speed = 0;
  for (int t = 1; t <= limit; ++t) {
    sum += Drive(env, speed >= 0 ? 1 : -1);
    speed = env.Obs()[1];
    if (*env.At<uint8_t>("terminated")) return {t, sum};
  }
  return {limit, sum};
}

TEST(MountainCarContinuous, ReachesTheGoalAtTheOfficialStep) {
  harness::Env env(kMountainCar, 1);
  harness::StartAt(env, {-.5, 0});
  const auto [steps, sum] = Swing(env, 999);
  EXPECT_EQ(steps, 106);
  EXPECT_NEAR(sum, 89.4, 1e-4);
}

TEST(MountainCarContinuous, ClipsThePushAndNotItsCost) {
  harness::Env strong(kMountainCar, 1), full(kMountainCar, 1);
  harness::StartAt(strong, {-.5, 0}), harness::StartAt(full, {-.5, 0});
  EXPECT_FLOAT_EQ(Drive(strong, 3), -0.9);
  EXPECT_FLOAT_EQ(Drive(full, 1), -0.1);
  EXPECT_FLOAT_EQ(strong.Obs()[1], full.Obs()[1]);
}

TEST(MountainCarContinuous, StopsAtTheLeftWall) {
  harness::Env env(kMountainCar, 1);
  harness::StartAt(env, {-1.15, -.07});
  Drive(env, -1);
  EXPECT_EQ(env.Obs()[0], -1.2f);
  EXPECT_EQ(env.Obs()[1], 0.0f);
}

TEST(MountainCarContinuous, MustBeFastEnoughAtTheGoal) {
  harness::Env slow(kMountainCar, 1), fast(kMountainCar, 1, 1, {{"goal_velocity", 0.05}});
  harness::StartAt(slow, {.44, .02}), harness::StartAt(fast, {.44, .02});
  EXPECT_GT(Drive(slow, 1), 99.0f);
  EXPECT_EQ(*slow.At<uint8_t>("terminated"), 1);
  EXPECT_LT(Drive(fast, 1), 0.0f);
  EXPECT_EQ(*fast.At<uint8_t>("terminated"), 0);
}

TEST(MountainCarContinuous, StartsAtRestInTheValley) {
  constexpr uint64_t kRows = 4000;
  harness::Env env(kMountainCar, kRows);
  std::vector<uint64_t> seeds(kRows);
  for (size_t i = 0; i < kRows; ++i) seeds[i] = i;
  ASSERT_EQ(env.Reset(0, seeds), BP_OK);
  double sum = 0, squares = 0;
  for (uint64_t r = 0; r < kRows; ++r) {
    const double off = env.Obs(r)[0] + 0.5;
    EXPECT_LE(std::abs(off), 0.1 + 1e-7);
    EXPECT_EQ(env.Obs(r)[1], 0.0f);
    sum += off / kRows, squares += off * off / kRows;
  }
  EXPECT_NEAR(sum, 0, 0.004);
  EXPECT_NEAR(squares, 0.01 / 3, 2e-4);
}

TEST(MountainCarContinuous, TakesItsTimeLimitFromTheOptions) {
  EXPECT_EQ(harness::Env(kMountainCar, 1).spec().max_episode_steps, 999);
  EXPECT_EQ(harness::Env(kMountainCar, 1, 1, {{"max_episode_steps", 50}}).spec().max_episode_steps, 50);
}

}  // namespace
