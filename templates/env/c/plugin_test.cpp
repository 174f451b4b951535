// Steps the env like a program that embeds it. `backplane plugin validate` checks the rest of the contract.
#include <gtest/gtest.h>

#include <cmath>

#include "backplane/embed.h"

namespace {

struct PointTest : testing::Test {
  PointTest() {
    EXPECT_EQ(bp_embed_open(PLUGIN_FILE, nullptr, nullptr, 1, 1, 1, &env), BP_OK) << bp_embed_error();
    EXPECT_EQ(bp_embed_reset(env, nullptr, nullptr), BP_OK) << bp_embed_error();
  }
  ~PointTest() override { bp_embed_close(env); }
  float* Data(const char* channel) {
    bp_view view{};
    EXPECT_EQ(bp_embed_tensor(env, channel, &view), BP_OK) << bp_embed_error();
    return static_cast<float*>(view.data);
  }
  bp_embed* env = nullptr;
};

TEST_F(PointTest, StartsAtRestWithinResetRange) {
  EXPECT_LE(std::fabs(Data("obs")[0]), 1);
  EXPECT_EQ(Data("obs")[1], 0);
}

TEST_F(PointTest, MovesInDirectionOfForce) {
  const float start = Data("obs")[0];
  Data("action")[0] = 1;
  for (int step = 0; step < 10; ++step) ASSERT_EQ(bp_embed_step(env), BP_OK) << bp_embed_error();
  EXPECT_GT(Data("obs")[0], start);
  EXPECT_EQ(Data("ep/distance")[0], std::fabs(Data("obs")[0]));
}

}  // namespace
