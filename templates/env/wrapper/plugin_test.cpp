// The wrapper over a pendulum, next to a pendulum without it. `backplane plugin validate` tests the contract.
#include <gtest/gtest.h>

#include "backplane/embed.h"

namespace {

struct Pendulum {
  explicit Pendulum(const char* options) {
    EXPECT_EQ(bp_embed_open(nullptr, "pendulum", options, 1, 1, 1, &env), BP_OK) << bp_embed_error();
    EXPECT_EQ(bp_embed_reset(env, nullptr, nullptr), BP_OK) << bp_embed_error();
  }
  ~Pendulum() { bp_embed_close(env); }
  float* Data(const char* channel) const {
    bp_view view{};
    EXPECT_EQ(bp_embed_tensor(env, channel, &view), BP_OK) << bp_embed_error();
    return static_cast<float*>(view.data);
  }
  float Step(float torque) const {
    Data("action")[0] = torque;
    EXPECT_EQ(bp_embed_step(env), BP_OK) << bp_embed_error();
    return Data("reward")[0];
  }
  bp_embed* env = nullptr;
};

// An item of env.wrappers names the plugin's file, with the value of its option `weight`.
#define WRAPPED(WEIGHT) "{\"env.wrappers\": [{\"" PLUGIN_FILE "\": " WEIGHT "}]}"

TEST(WrapperTest, AveragesRewardsAndKeepsObservations) {
  const Pendulum plain(nullptr), wrapped(WRAPPED("0.25"));
  float average = 0;
  for (int step = 0; step < 50; ++step) {
    average += 0.25f * (plain.Step(1) - average);
    EXPECT_FLOAT_EQ(wrapped.Step(1), average);
    EXPECT_EQ(wrapped.Data("obs")[0], plain.Data("obs")[0]);
  }
}

TEST(WrapperTest, ForgetsRewardsAtTheStartOfAnEpisode) {
  const Pendulum plain(nullptr), wrapped(WRAPPED("0.5"));
  plain.Step(1), wrapped.Step(1);
  for (const Pendulum* pendulum : {&plain, &wrapped}) ASSERT_EQ(bp_embed_reset(pendulum->env, nullptr, nullptr), BP_OK);
  const float reward = plain.Step(1);
  EXPECT_FLOAT_EQ(wrapped.Step(1), 0.5f * reward);
}

TEST(WrapperTest, ChangesNothingWithAWeightOfOne) {
  const Pendulum plain(nullptr), wrapped(WRAPPED("1"));
  for (int step = 0; step < 10; ++step) EXPECT_FLOAT_EQ(wrapped.Step(-1), plain.Step(-1));
}

}  // namespace
