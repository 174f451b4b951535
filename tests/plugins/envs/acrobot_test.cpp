#include <algorithm>
#include <cmath>

#include "places.hpp"
#include "support/env_harness.hpp"

namespace {

const std::string kAcrobot = BACKPLANE_PLUGIN_DIR "/env_acrobot.so";

float Turn(harness::Env& env, int action) {
  *env.At<int32_t>("action") = action;
  EXPECT_EQ(env.Step(), BP_OK);
  return *env.At<float>("reward");
}

// Pushes in the direction of the second link's speed; returns the steps to the height.
int SwingUp(harness::Env& env, int limit) {
  for (int t = 1; t <= limit; ++t) {
    const float reward = Turn(env, env.Obs()[5] >= 0 ? 2 : 0);
    const bool up = *env.At<uint8_t>("terminated") != 0;
    EXPECT_EQ(reward, up ? 0 : -1);
    if (up) return t;
  }
  return limit + 1;
}

TEST(Acrobot, FollowsTheOfficialTrajectory) {
  harness::Env env(kAcrobot, 1);
  harness::StartAt(env, {.05, -.03, .02, .01});
  Turn(env, 2);
  const float first[] = {0.9994232654571533,   0.03395773842930794,  0.9999015927314758,
                         0.014027896337211132, -0.17546464502811432, 0.41971561312675476};
  EXPECT_TRUE(std::equal(first, first + 6, env.Obs()));
  EXPECT_EQ(SwingUp(env, 500), 72);
  const float last[] = {-0.19103865325450897, -0.981582522392273,  -0.168519988656044,
                        -0.9856982231140137,  -1.9005076885223389, 3.8740434646606445};
  EXPECT_TRUE(std::equal(last, last + 6, env.Obs()));
}

// Gymnasium's reset observation comes from numpy's sine and cosine of float32.
TEST(Acrobot, ObservesItsStartInFloat32) {
  harness::Env env(kAcrobot, 1);
  const float angle = -0.08460116f;  // its cosine rounds differently
  harness::StartAt(env, {angle, angle, 0, 0});
  EXPECT_EQ(env.Obs()[0], env.Obs()[2]);
  EXPECT_EQ(env.Obs()[1], env.Obs()[3]);
  int differ = 0;
  for (int i = 0; i < 20000; ++i) {
    const double x = static_cast<float>(-0.1 + 1e-5 * i);
    harness::StartAt(env, {x, x, 0, 0});
    differ += env.Obs()[0] != static_cast<float>(std::cos(x));
    ASSERT_NEAR(env.Obs()[0], std::cos(x), 1e-7);
    ASSERT_NEAR(env.Obs()[1], std::sin(x), 1e-8);
  }
  EXPECT_GT(differ, 2);
  EXPECT_LT(differ, 60);
}

TEST(Acrobot, LimitsItsSpeedsAndWrapsItsAngles) {
  harness::Env env(kAcrobot, 1);
  harness::StartAt(env, {3, 3, 12, 28});
  for (int t = 0; t < 50; ++t) {
    Turn(env, 2);
    EXPECT_LE(std::abs(env.Obs()[4]), static_cast<float>(4 * M_PI));
    EXPECT_LE(std::abs(env.Obs()[5]), static_cast<float>(9 * M_PI));
    std::vector<char> bytes(env.snapshot()->row_bytes(env.get()));
    ASSERT_EQ(env.snapshot()->get(env.get(), 0, bytes.data()), BP_OK);
    double angles[2];
    std::memcpy(angles, bytes.data() + sizeof(uint64_t) + sizeof(bp_rng), sizeof angles);
    for (const double angle : angles) EXPECT_LE(std::abs(angle), M_PI);
  }
}

TEST(Acrobot, StartsNearRest) {
  constexpr uint64_t kRows = 4000;
  harness::Env env(kAcrobot, kRows);
  std::vector<uint64_t> seeds(kRows);
  for (size_t i = 0; i < kRows; ++i) seeds[i] = i;
  ASSERT_EQ(env.Reset(0, seeds), BP_OK);
  for (const int i : {1, 3, 4, 5}) {  // sines and speeds
    double sum = 0, squares = 0;
    for (uint64_t r = 0; r < kRows; ++r) {
      const double value = env.Obs(r)[i];
      EXPECT_LE(std::abs(value), 0.1);
      sum += value / kRows, squares += value * value / kRows;
    }
    EXPECT_NEAR(sum, 0, 0.004) << i;
    EXPECT_NEAR(squares, 0.01 / 3, 2e-4) << i;
  }
}

TEST(Acrobot, TakesItsTimeLimitFromTheOptions) {
  EXPECT_EQ(harness::Env(kAcrobot, 1).spec().max_episode_steps, 500);
  EXPECT_EQ(harness::Env(kAcrobot, 1, 1, {{"max_episode_steps", 50}}).spec().max_episode_steps, 50);
}

}  // namespace
