#include <gtest/gtest.h>

#include <algorithm>

#include "places.hpp"
#include "support/env_harness.hpp"

namespace {

const std::string kCatch = BACKPLANE_PLUGIN_DIR "/env_ball_catch.so";
constexpr int kSide = 84, kPixels = kSide * kSide;

const uint8_t* Frame(harness::Env& env, int frame) { return env.At<uint8_t>("obs") + frame * kPixels; }
// The first column with a value in a frame; -1: none.
int ColumnOf(const uint8_t* frame, uint8_t value) {
  for (int x = 0; x < kSide; ++x)
    for (int y = 0; y < kSide; ++y)
      if (frame[y * kSide + x] == value) return x;
  return -1;
}
int RowOf(const uint8_t* frame, uint8_t value) {
  const int at = static_cast<int>(std::find(frame, frame + kPixels, value) - frame);
  return at < kPixels ? at / kSide : -1;
}

// Moves the paddle under the newest ball, or away from it.
void Play(harness::Env& env, bool under) {
  const int ball = ColumnOf(Frame(env, 3), 255), paddle = ColumnOf(Frame(env, 3), 160) + 4;
  const int toward = ball > paddle + 2 ? 2 : ball < paddle - 2 ? 0 : 1;
  *env.At<int32_t>("action") = under ? toward : ball < 42 ? 2 : 0;
  ASSERT_EQ(env.Step(), BP_OK);
}

TEST(Catch, FramesMoveUpByOne) {
  harness::Env env(kCatch, 1);
  ASSERT_EQ(env.Reset(0, {3}), BP_OK);
  for (int k = 0; k < 3; ++k) EXPECT_TRUE(std::equal(Frame(env, k), Frame(env, k) + kPixels, Frame(env, 3))) << k;
  EXPECT_EQ(std::count(Frame(env, 3), Frame(env, 3) + kPixels, 255), 16);
  EXPECT_EQ(std::count(Frame(env, 3), Frame(env, 3) + kPixels, 160), 36);
  EXPECT_EQ(ColumnOf(Frame(env, 3), 160), 36);
  *env.At<int32_t>("action") = 2;
  for (int t = 1; t <= 3; ++t) {
    const std::vector<uint8_t> before(Frame(env, 0), Frame(env, 4));
    ASSERT_EQ(env.Step(), BP_OK);
    EXPECT_TRUE(std::equal(Frame(env, 0), Frame(env, 3), before.begin() + kPixels)) << t;
    EXPECT_EQ(ColumnOf(Frame(env, 3), 160), 36 + 3 * t);
    EXPECT_EQ(RowOf(Frame(env, 3), 255), 2 * t);
  }
}

TEST(Catch, PaysForEachBallAndEndsAfterTheLast) {
  for (const bool under : {true, false}) {
    harness::Env env(kCatch, 1, 1, {{"balls", 3}});
    float sum = 0;
    for (uint64_t seed = 0; seed < 20; ++seed) {
      ASSERT_EQ(env.Reset(0, {seed}), BP_OK);
      for (int t = 1; t <= 3 * 39; ++t) {
        Play(env, under);
        const float reward = *env.At<float>("reward");
        EXPECT_EQ(std::abs(reward), t % 39 == 0) << "seed " << seed << ", step " << t;
        EXPECT_EQ(*env.At<uint8_t>("terminated"), t == 3 * 39) << t;
        sum += reward;
      }
    }
    EXPECT_EQ(sum == 60, under) << sum;
    EXPECT_EQ(sum < -50, !under) << sum;
  }
}

}  // namespace
