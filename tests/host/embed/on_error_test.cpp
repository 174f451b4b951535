// The option on_error: a row whose step fails ends only its own episode.
#include <gmock/gmock.h>

#include "env.hpp"

namespace backplane::embed_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr char kEnds[] = R"({"on_error": "end_episode"})";
constexpr uint64_t kSeeds[] = {10, 20, 30};

// Three rows, each after one good step. The next step of row 1 fails.
class OnError : public testing::TestWithParam<int> {
 protected:
  void Start(int32_t mode) {
    ASSERT_EQ(bp_embed_autoreset(env.handle, mode), BP_OK);
    env.Reset(nullptr, kSeeds);
    env.Step();
    action(1) = static_cast<float>(GetParam());
    env.Step();
    action(1) = 0;
  }
  void ExpectOthersPlay(float steps) const {
    EXPECT_EQ(obs(0), 10 + steps);
    EXPECT_EQ(obs(2), 30 + steps);
    EXPECT_EQ(reward(0) + reward(2), 2);
    EXPECT_EQ(truncated(0) + truncated(2), 0);
    EXPECT_STREQ(bp_embed_error_of(env.handle, 0), "");
  }
  void ExpectEnd() const {
    EXPECT_EQ(truncated(1), 1);
    EXPECT_EQ(terminated(1), 0);
    EXPECT_EQ(reward(1), 0);
    EXPECT_EQ(final_obs(1), 21) << "of the step before";
    EXPECT_EQ(ep_length(1), 2);
    EXPECT_EQ(ep_return(1), 1);
    const char* const whys[] = {"env.breaks: step: row 1 broke", "observation obs[0] of row 1 is not finite",
                                "the reward of row 1 is not a finite number"};
    EXPECT_STREQ(bp_embed_error_of(env.handle, 1), whys[GetParam() - 1]);
  }

  Env env{nullptr, 3, kEnds, 1, 2, BREAKS};
  View<float> action = env.Of<float>("action"), obs = env.Of<float>("obs"), final_obs = env.Of<float>("final_obs"),
              reward = env.Of<float>("reward");
  View<uint8_t> terminated = env.Of<uint8_t>("terminated"), truncated = env.Of<uint8_t>("truncated");
  View<double> ep_return = env.Of<double>("ep_return");
  View<int64_t> ep_length = env.Of<int64_t>("ep_length");
};

TEST_P(OnError, EndsAnEpisodeInTheSameStep) {
  Start(BP_AUTORESET_SAME_STEP);
  ExpectEnd();
  ExpectOthersPlay(2);
  const float first = obs(1);
  env.Step();
  EXPECT_EQ(obs(1), first + 1);
  EXPECT_STREQ(bp_embed_error_of(env.handle, 1), "");
  ExpectOthersPlay(3);
  for (int t = 0; t < 2; ++t) env.Step();
  EXPECT_EQ(truncated(0), 1) << "the limit of five steps still holds";
  EXPECT_EQ(truncated(1), 0);
}

TEST_P(OnError, EndsAnEpisodeBeforeTheReset) {
  for (const int32_t mode : {BP_AUTORESET_NEXT_STEP, BP_AUTORESET_DISABLED}) {
    Start(mode);
    ExpectEnd();
    ExpectOthersPlay(2);
    EXPECT_EQ(obs(1), 21);
    const uint8_t mask[] = {0, 1, 0};
    if (mode == BP_AUTORESET_DISABLED) {
      env.Reset(mask, kSeeds);
      EXPECT_EQ(obs(1), 20);
    }
    env.Step();
    EXPECT_EQ(truncated(1), 0);
    EXPECT_STREQ(bp_embed_error_of(env.handle, 1), "");
    ExpectOthersPlay(3);
  }
}

INSTANTIATE_TEST_SUITE_P(Way, OnError, testing::Values(1, 2, 3));

TEST(OnErrorOption, RaisesByDefaultAndForMemory) {
  for (const char* options : {static_cast<const char*>(nullptr), R"({"on_error": "raise"})", kEnds}) {
    Env env(nullptr, 2, options, 1, 1, BREAKS);
    env.Reset();
    env.Of<float>("action")(1) = 4;
    EXPECT_EQ(bp_embed_step(env.handle), BP_E_OOM_HOST);
    env.Reset();
    env.Of<float>("action")(1) = 1;
    EXPECT_EQ(bp_embed_step(env.handle), options == kEnds ? BP_OK : BP_E_INTERNAL);
    EXPECT_EQ(env.Spec()["options"].contains("on_error"), options == kEnds);
  }
}

TEST(OnErrorOption, IsChecked) {
  bp_embed* handle = nullptr;
  EXPECT_EQ(bp_embed_open(BREAKS, nullptr, R"({"on_error": "ignore"})", 1, 1, 1, &handle), BP_E_CONFIG);
  EXPECT_STREQ(bp_embed_error(), "on_error: expected raise or end_episode, got \"ignore\"");
  EXPECT_EQ(bp_embed_open(RESETS_ITSELF, nullptr, kEnds, 1, 1, 1, &handle), BP_E_UNSUPPORTED);
  EXPECT_THAT(bp_embed_error(), AllOf(HasSubstr("resets itself"), HasSubstr("on_error: end_episode")));
  const Env env(nullptr, 1, kEnds, 1, 1, BREAKS);
  EXPECT_EQ(bp_embed_error_of(env.handle, 1), nullptr);
  EXPECT_THAT(bp_embed_error(), HasSubstr("expected a row from 0 to 0, got 1"));
}

}  // namespace
}  // namespace backplane::embed_test
