#include <algorithm>
#include <array>
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

// The angles and speeds of a row, behind the layer's key and the random stream.
std::array<double, 4> AcrobotState(const harness::Env& env, uint64_t row) {
  std::vector<char> bytes(env.snapshot()->row_bytes(env.get()));
  EXPECT_EQ(env.snapshot()->get(env.get(), row, bytes.data()), BP_OK);
  std::array<double, 4> state;
  std::memcpy(state.data(), bytes.data() + sizeof(uint64_t) + sizeof(bp_rng), sizeof state);
  return state;
}

// Gymnasium's first observation comes from numpy's sine and cosine of float32, which are off in the last bit now and then.
TEST(Acrobot, ObservesItsStartInFloat32) {
  constexpr uint64_t kRows = 20000;
  harness::Env env(kAcrobot, kRows);
  std::vector<uint64_t> seeds(kRows);
  for (size_t i = 0; i < kRows; ++i) seeds[i] = i;
  ASSERT_EQ(env.Reset(0, seeds), BP_OK);
  int cosines = 0, sines = 0;
  for (uint64_t r = 0; r < kRows; ++r) {
    const double angle = AcrobotState(env, r)[0];
    ASSERT_EQ(angle, static_cast<float>(angle));
    ASSERT_NEAR(env.Obs(r)[0], std::cos(angle), 1e-7);
    ASSERT_NEAR(env.Obs(r)[1], std::sin(angle), 1e-8);
    cosines += env.Obs(r)[0] != static_cast<float>(std::cos(angle));
    sines += env.Obs(r)[1] != static_cast<float>(std::sin(angle));
  }
  // numpy: 7.3 and 2.8 of 10,000.
  EXPECT_NEAR(cosines, 14.5, 13);
  EXPECT_NEAR(sines, 5.5, 5);
}

TEST(Acrobot, LimitsItsSpeedsAndWrapsItsAngles) {
  harness::Env env(kAcrobot, 1);
  harness::StartAt(env, {3, 3, 12, 28});
  for (int t = 0; t < 50; ++t) {
    Turn(env, 2);
    const auto [theta1, theta2, speed1, speed2] = AcrobotState(env, 0);
    for (const double angle : {theta1, theta2}) EXPECT_LE(std::abs(angle), M_PI);
    EXPECT_LE(std::abs(speed1), 4 * M_PI);
    EXPECT_LE(std::abs(speed2), 9 * M_PI);
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
