#include "places.hpp"
#include "support/env_harness.hpp"

namespace {

const std::string kDiscreteCar = BACKPLANE_PLUGIN_DIR "/env_mountain_car.so";

void Shove(harness::Env& env, int action) {
  *env.At<int32_t>("action") = action;
  EXPECT_EQ(env.Step(), BP_OK);
  EXPECT_EQ(*env.At<float>("reward"), -1);
}

TEST(MountainCar, ReachesTheGoalAtTheOfficialStep) {
  harness::Env env(kDiscreteCar, 1);
  harness::StartAt(env, {-.5, 0});
  int t = 0;
  while (t < 200 && (t == 0 || !*env.At<uint8_t>("terminated"))) {
    Shove(env, env.Obs()[1] >= 0 ? 2 : 0);
    if (++t == 10) {
      EXPECT_EQ(env.Obs()[0], -0.4576895833015442f);
      EXPECT_EQ(env.Obs()[1], 0.007254692260175943f);
    }
  }
  EXPECT_EQ(t, 124);
  EXPECT_EQ(env.Obs()[0], 0.5349499583244324f);
}

TEST(MountainCar, StopsAtTheLeftWall) {
  harness::Env env(kDiscreteCar, 1);
  harness::StartAt(env, {-1.15, -.07});
  Shove(env, 0);
  EXPECT_EQ(env.Obs()[0], -1.2f);
  EXPECT_EQ(env.Obs()[1], 0.0f);
}

TEST(MountainCar, MustBeFastEnoughAtTheGoal) {
  harness::Env slow(kDiscreteCar, 1), fast(kDiscreteCar, 1, 1, {{"goal_velocity", 0.05}});
  harness::StartAt(slow, {.49, .02}), harness::StartAt(fast, {.49, .02});
  Shove(slow, 2), Shove(fast, 2);
  EXPECT_EQ(*slow.At<uint8_t>("terminated"), 1);
  EXPECT_EQ(*fast.At<uint8_t>("terminated"), 0);
}

TEST(MountainCar, RestsWithoutAPushAtTheBottom) {
  harness::Env env(kDiscreteCar, 1);
  harness::StartAt(env, {-M_PI / 6, 0});
  for (int t = 0; t < 20; ++t) Shove(env, 1);
  EXPECT_NEAR(env.Obs()[0], -M_PI / 6, 1e-6);
}

TEST(MountainCar, StartsAtRestInTheValley) {
  constexpr uint64_t kRows = 4000;
  harness::Env env(kDiscreteCar, kRows);
  std::vector<uint64_t> seeds(kRows);
  for (size_t i = 0; i < kRows; ++i) seeds[i] = i;
  ASSERT_EQ(env.Reset(0, seeds), BP_OK);
  double sum = 0;
  for (uint64_t r = 0; r < kRows; ++r) {
    EXPECT_LE(std::abs(env.Obs(r)[0] + 0.5), 0.1 + 1e-7);
    EXPECT_EQ(env.Obs(r)[1], 0.0f);
    sum += env.Obs(r)[0] + 0.5;
  }
  EXPECT_NEAR(sum / kRows, 0, 0.004);
}

TEST(MountainCar, TakesItsTimeLimitFromTheOptions) {
  EXPECT_EQ(harness::Env(kDiscreteCar, 1).spec().max_episode_steps, 200);
  EXPECT_EQ(harness::Env(kDiscreteCar, 1, 1, {{"max_episode_steps", 50}}).spec().max_episode_steps, 50);
}

}  // namespace
