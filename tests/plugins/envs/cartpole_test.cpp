#include "places.hpp"
#include "support/env_harness.hpp"

namespace {

const std::string kCartPole = BACKPLANE_PLUGIN_DIR "/env_cartpole.so";

void ExpectObs(const harness::Env& env, const double (&wanted)[4]) {
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(env.Obs()[i], wanted[i], 2e-7 * std::max(1.0, std::abs(wanted[i]))) << i;
}

TEST(CartPole, FollowsTheOfficialTrajectoryWithAlternatingActions) {
  harness::Env env(kCartPole, 1);
  harness::StartAt(env, {.01, -.02, .03, .04});
  for (int t = 1; t <= 30; ++t) {
    *env.At<int32_t>("action") = t % 2;
    ASSERT_EQ(env.Step(), BP_OK);
    if (t == 1) ExpectObs(env, {.0096, .17467919, .0308, -.24306872});
    if (t == 10) ExpectObs(env, {.02517077, -.02343041, .01625361, .11566956});
    if (t == 30) ExpectObs(env, {.05392145, -.02850652, .02386643, .22768907});
  }
}

TEST(CartPole, FallsAtStepTenWhenPushedToTheRight) {
  harness::Env env(kCartPole, 1);
  harness::StartAt(env, {.01, -.02, .03, .04});
  for (int t = 1; t <= 10; ++t) {
    *env.At<int32_t>("action") = 1;
    ASSERT_EQ(env.Step(), BP_OK);
    EXPECT_EQ(*env.At<uint8_t>("terminated"), t == 10);
    EXPECT_EQ(*env.At<float>("reward"), 1.0f);
  }
  ExpectObs(env, {.18148412, 1.9330643, -.22356918, -2.9840827});
}

// Single rows, and rows that are stepped together.
TEST(CartPole, HidesVelocitiesAndStepsAlike) {
  constexpr uint64_t kRows = 21;
  harness::Env all(kCartPole, kRows), positions(kCartPole, kRows, 1, {{"observe", "positions"}});
  std::vector<uint64_t> seeds(kRows);
  for (uint64_t r = 0; r < kRows; ++r) seeds[r] = r;
  ASSERT_EQ(all.Reset(0, seeds), BP_OK);
  ASSERT_EQ(positions.Reset(0, seeds), BP_OK);
  for (int t = 0; t < 20; ++t) {
    for (uint64_t r = 0; r < kRows; ++r) {
      ASSERT_EQ(positions.Obs(r)[0], all.Obs(r)[0]) << t;
      ASSERT_EQ(positions.Obs(r)[1], all.Obs(r)[2]) << t;
    }
    for (harness::Env* env : {&all, &positions})
      for (uint64_t r = 0; r < kRows; ++r) *env->At<int32_t>("action", r) = (t + r) % 2;
    ASSERT_EQ(all.Step(), BP_OK);
    ASSERT_EQ(positions.Step(), BP_OK);
  }
}

TEST(CartPole, PaysNothingButTheFallWhenAskedTo) {
  harness::Env env(kCartPole, 1, 1, {{"sutton_barto_reward", true}});
  harness::StartAt(env, {.01, -.02, .03, .04});
  for (int t = 1; t <= 10; ++t) {
    *env.At<int32_t>("action") = 1;
    ASSERT_EQ(env.Step(), BP_OK);
    EXPECT_EQ(*env.At<float>("reward"), t == 10 ? -1.0f : 0.0f);
  }
}

TEST(CartPole, StartsUniformlyWithinFiveHundredths) {
  harness::Env env(kCartPole, 4000);
  std::vector<uint64_t> seeds(4000);
  for (size_t i = 0; i < seeds.size(); ++i) seeds[i] = i;
  ASSERT_EQ(env.Reset(0, seeds), BP_OK);
  double sum = 0, squares = 0;
  for (uint64_t r = 0; r < 4000; ++r)
    for (int i = 0; i < 4; ++i) {
      const double value = env.Obs(r)[i];
      EXPECT_LE(std::abs(value), 0.05);
      sum += value, squares += value * value;
    }
  EXPECT_NEAR(sum / 16000, 0, 0.001);
  EXPECT_NEAR(squares / 16000, 0.05 * 0.05 / 3, 2e-5);
}

// Vector code steps rows together, and the C library's sine and cosine step single rows. Rows that a host steps after their
// fall have angles beyond an episode's limit.
TEST(CartPole, StepsARowIndependentlyOfOthers) {
  constexpr uint64_t kRows = 300 + 37;
  harness::Env together(kCartPole, kRows), alone(kCartPole, kRows);
  std::vector<uint64_t> seeds(kRows);
  for (uint64_t r = 0; r < kRows; ++r) seeds[r] = r;
  ASSERT_EQ(together.Reset(0, seeds), BP_OK);
  ASSERT_EQ(alone.Reset(0, seeds), BP_OK);
  uint64_t fallen = 0;
  for (int t = 0; t < 120; ++t) {
    for (harness::Env* env : {&together, &alone})
      for (uint64_t r = 0; r < kRows; ++r) *env->At<int32_t>("action", r) = (t + r) % 2;
    ASSERT_EQ(together.api().step(together.get(), 0, 3, kRows), BP_OK);
    for (uint64_t r = 3; r < kRows; ++r) ASSERT_EQ(alone.api().step(alone.get(), 0, r, r + 1), BP_OK);
    ASSERT_EQ(together.Bytes(), alone.Bytes()) << t;
    for (uint64_t r = 3; r < kRows; ++r) fallen += *together.At<uint8_t>("terminated", r);
  }
  EXPECT_GT(fallen, kRows);
  EXPECT_LT(fallen, 120 * kRows * 3 / 4);
}

TEST(CartPole, TakesItsTimeLimitFromTheOptions) {
  EXPECT_EQ(harness::Env(kCartPole, 1).spec().max_episode_steps, 500);
  EXPECT_EQ(harness::Env(kCartPole, 1, 1, {{"max_episode_steps", 200}}).spec().max_episode_steps, 200);
}

}  // namespace
