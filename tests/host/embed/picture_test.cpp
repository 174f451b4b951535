// Pictures of rows, and time limits that replace an env's own.
#include <gmock/gmock.h>

#include "env.hpp"

namespace backplane::embed_test {
namespace {

using testing::HasSubstr;

std::string FrameOf(const Env& env, uint64_t row, bp_picture* picture) {
  EXPECT_EQ(bp_embed_render(env.handle, row, picture), BP_OK) << bp_embed_error();
  return {static_cast<const char*>(picture->frame), picture->frame_bytes};
}

TEST(Picture, ShowsTheStateOfItsRow) {
  const Env env("cartpole", 2);
  env.Reset();
  env.SetState(1, "state", {1.25, 0, 0, 0});
  bp_picture picture{};
  EXPECT_THAT(FrameOf(env, 1, &picture), HasSubstr("cart at 1.25 m"));
  EXPECT_EQ(picture.format, 1u);
  EXPECT_EQ(env.Spec()["picture"], "svg");
  EXPECT_GT(picture.width * picture.height, 0u);
  EXPECT_THAT(std::string(static_cast<const char*>(picture.backdrop), picture.backdrop_bytes), HasSubstr("<path"));
  EXPECT_THAT(FrameOf(env, 0, &picture), testing::Not(HasSubstr("cart at 1.25 m")));
}

TEST(Picture, IsDrawnAfterTheEnd) {
  const Env env("pendulum");
  ASSERT_EQ(bp_embed_autoreset(env.handle, BP_AUTORESET_DISABLED), BP_OK);
  ASSERT_EQ(bp_embed_time_limit(env.handle, 1), BP_OK);
  env.Reset();
  env.Step();
  ASSERT_EQ(bp_embed_step(env.handle), BP_E_INVALID_ARG) << "the episode has ended";
  bp_picture picture{};
  EXPECT_NE(FrameOf(env, 0, &picture), "");
}

TEST(Picture, RejectsMisuse) {
  const Env env("cartpole", 2);
  bp_picture picture{};
  EXPECT_EQ(bp_embed_render(env.handle, 0, &picture), BP_E_INVALID_ARG);
  EXPECT_STREQ(bp_embed_error(), "row 0 has no state to draw\nhint: call bp_embed_reset first");
  env.Reset();
  EXPECT_EQ(bp_embed_render(env.handle, 2, &picture), BP_E_INVALID_ARG);
  EXPECT_STREQ(bp_embed_error(), "env.cartpole: expected a row from 0 to 1, got 2");
  EXPECT_EQ(bp_embed_render(env.handle, 0, nullptr), BP_E_INVALID_ARG);
  ASSERT_EQ(bp_embed_step_send(env.handle), BP_OK);
  EXPECT_EQ(bp_embed_render(env.handle, 0, &picture), BP_E_INVALID_ARG);
  EXPECT_EQ(bp_embed_time_limit(env.handle, 3), BP_E_INVALID_ARG);
  EXPECT_EQ(bp_embed_step_wait(env.handle), BP_OK);
}

TEST(Picture, RejectsEnvWithoutPictures) {
  const Env env(nullptr, 1, nullptr, 1, 1, RESETS_ITSELF);
  env.Reset();
  bp_picture picture{};
  EXPECT_EQ(bp_embed_render(env.handle, 0, &picture), BP_E_UNSUPPORTED);
  EXPECT_THAT(bp_embed_error(), HasSubstr("cannot draw pictures"));
  EXPECT_TRUE(env.Spec()["picture"].is_null());
}

// Length of the first episode of a pendulum, which has no other end; 0: none within 300 steps.
int LengthWith(uint64_t limit) {
  const Env env("pendulum");
  EXPECT_EQ(bp_embed_time_limit(env.handle, limit), BP_OK) << bp_embed_error();
  const nlohmann::json told = env.Spec()["max_episode_steps"];
  EXPECT_EQ(told, limit == 0 ? nlohmann::json() : nlohmann::json(limit));
  env.Reset();
  for (int i = 1; i <= 300; ++i) {
    env.Step();
    if (env.Of<uint8_t>("truncated")(0) != 0) return i;
  }
  return 0;
}

TEST(TimeLimit, ReplacesTheEnvs) {
  EXPECT_EQ(LengthWith(7), 7);
  EXPECT_EQ(LengthWith(250), 250);
  EXPECT_EQ(LengthWith(0), 0);
}

TEST(TimeLimit, EndsARunningEpisode) {
  const Env env("pendulum");
  env.Reset();
  for (int i = 0; i < 9; ++i) env.Step();
  ASSERT_EQ(bp_embed_time_limit(env.handle, 10), BP_OK);
  env.Step();
  EXPECT_EQ(env.Of<uint8_t>("truncated")(0), 1);
}

TEST(TimeLimit, RejectsEnvThatHasItsOwn) {
  const Env env(nullptr, 1, nullptr, 1, 1, RESETS_ITSELF);
  EXPECT_EQ(bp_embed_time_limit(env.handle, 3), BP_E_UNSUPPORTED);
  EXPECT_THAT(bp_embed_error(), HasSubstr("truncates its episodes itself"));
}

}  // namespace
}  // namespace backplane::embed_test
