// Steps the env like a program that embeds it. `backplane plugin validate` checks the rest of the contract.
#include <gtest/gtest.h>

#include <cmath>

#include "backplane/embed.h"

namespace {

struct MeetingTest : testing::Test {
  MeetingTest() {
    EXPECT_EQ(bp_embed_open(PLUGIN_FILE, nullptr, nullptr, 1, 1, 1, &env), BP_OK) << bp_embed_error();
    EXPECT_EQ(bp_embed_reset(env, nullptr, nullptr), BP_OK) << bp_embed_error();
  }
  ~MeetingTest() override { bp_embed_close(env); }
  template <class T>
  T* Data(const char* channel) {
    bp_view view{};
    EXPECT_EQ(bp_embed_tensor(env, channel, &view), BP_OK) << bp_embed_error();
    return static_cast<T*>(view.data);
  }
  bp_embed* env = nullptr;
};

TEST_F(MeetingTest, RobotsMoveIndependently) {
  const float* const place = Data<float>("state");
  const float start[] = {place[0], place[1], place[2]};
  for (int32_t robot = 0; robot < 3; ++robot) Data<int32_t>("action")[robot] = robot;
  ASSERT_EQ(bp_embed_step(env), BP_OK) << bp_embed_error();
  for (int robot = 0; robot < 3; ++robot) EXPECT_NEAR(place[robot], start[robot] + 0.1f * static_cast<float>(robot - 1), 1e-6);
}

TEST_F(MeetingTest, RewardIsMinusDistanceToOthers) {
  for (int robot = 0; robot < 3; ++robot) Data<int32_t>("action")[robot] = 1;
  ASSERT_EQ(bp_embed_step(env), BP_OK) << bp_embed_error();
  for (int robot = 0; robot < 3; ++robot)
    EXPECT_EQ(Data<float>("reward")[robot], -std::fabs(Data<float>("obs")[2 * robot + 1]));
}

}  // namespace
