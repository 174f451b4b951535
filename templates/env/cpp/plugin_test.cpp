// The env as a program steps it, without the names in plugin.cpp. `backplane plugin validate` tests the contract.
#include <gtest/gtest.h>

#include <cmath>

#include "backplane/embed.h"

namespace {

struct EnvTest : testing::Test {
  EnvTest() {
    EXPECT_EQ(bp_embed_open(PLUGIN_FILE, nullptr, nullptr, 1, 1, 1, &env), BP_OK) << bp_embed_error();
    EXPECT_EQ(bp_embed_reset(env, nullptr, nullptr), BP_OK) << bp_embed_error();
  }
  ~EnvTest() override { bp_embed_close(env); }
  template <class T = float>
  T* Data(const char* channel) {
    bp_view view{};
    EXPECT_EQ(bp_embed_tensor(env, channel, &view), BP_OK) << bp_embed_error();
    return static_cast<T*>(view.data);
  }
  void Push(float force) {
    Data("action")[0] = force;
    ASSERT_EQ(bp_embed_step(env), BP_OK) << bp_embed_error();
  }
  bp_embed* env = nullptr;
};

TEST_F(EnvTest, StartsAtRestWithinItsRange) {
  EXPECT_LE(std::fabs(Data("obs")[0]), 1);
  EXPECT_EQ(Data("obs")[1], 0);
}

TEST_F(EnvTest, MovesWhereItIsPushed) {
  const float start = Data("obs")[0];
  for (int step = 0; step < 10; ++step) Push(1);
  EXPECT_GT(Data("obs")[0], start);
  EXPECT_EQ(Data("ep/distance")[0], std::fabs(Data("obs")[0]));
}

TEST_F(EnvTest, EndsTenMetresAway) {
  for (int step = 0; step < 150 && Data<uint8_t>("terminated")[0] == 0; ++step) Push(1);
  EXPECT_EQ(Data<uint8_t>("terminated")[0], 1);
  EXPECT_GT(Data("ep/distance")[0], 10);
}

}  // namespace
