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
  bool Push(float force) {  // until the episode ends
    Data("action")[0] = force;
    EXPECT_EQ(bp_embed_step(env), BP_OK) << bp_embed_error();
    return Data<uint8_t>("terminated")[0] == 0;
  }
  bp_embed* env = nullptr;
};

TEST_F(EnvTest, StandsAtFirst) {
  EXPECT_LT(std::fabs(Data("obs")[1]), 0.4);  // rad
  EXPECT_TRUE(Push(0));
}

TEST_F(EnvTest, FallsBackWhenTheCartIsPushed) {
  int steps = 1;
  while (steps < 100 && Push(1)) ++steps;
  EXPECT_LT(steps, 100);
  EXPECT_GT(Data("final_obs")[0], 0);
  EXPECT_LT(Data("final_obs")[1], -0.4);
}

}  // namespace
