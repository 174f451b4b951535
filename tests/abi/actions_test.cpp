#include "backplane/actions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bp {
namespace {

constexpr int64_t kThree[] = {3}, kChoices[] = {3};

bp_channel Box(const double* low, const double* high) {
  return {sizeof(bp_channel), BP_ROLE_ACTION, BP_SPACE_BOX, BP_SCOPE_ROW, 1,       {BP_DTYPE_FLOAT, 32, 1},
          "action",           kThree,         low,          high,         nullptr, 3};
}
bp_channel Discrete() {
  return {sizeof(bp_channel), BP_ROLE_ACTION, BP_SPACE_DISCRETE, BP_SCOPE_ROW, 0,        {BP_DTYPE_INT, 32, 1},
          "action",           nullptr,        nullptr,           nullptr,      kChoices, 0};
}
bp_channel Mask(bp_dtype dtype) {
  return {sizeof(bp_channel),
          BP_ROLE_ACTION_MASK,
          BP_SPACE_MULTI_BINARY,
          BP_SCOPE_ROW,
          1,
          dtype,
          "allowed",
          kThree,
          nullptr,
          nullptr,
          nullptr,
          0};
}

TEST(ActionSpace, ZeroIsMovedIntoTheBounds) {
  constexpr double kLow[] = {-1, 2, -INFINITY}, kHigh[] = {1, 3, -4};
  float action[3];
  ActionSpace(Box(kLow, kHigh)).Zero(nullptr, action);
  EXPECT_THAT(action, testing::ElementsAre(0, 2, -4));
}

TEST(ActionSpace, UniformKeepsToTheBoundsAndIsNormalWithoutBoth) {
  constexpr double kLow[] = {-1, 0, -INFINITY}, kHigh[] = {3, INFINITY, INFINITY};
  const ActionSpace space(Box(kLow, kHigh));
  constexpr int kDraws = 4000;
  double sum[3] = {}, squares[3] = {};
  int at_bound = 0;
  bp_rng rng{7, 0};
  for (int i = 0; i < kDraws; ++i) {
    float action[3];
    space.Uniform(&rng, nullptr, action);
    EXPECT_TRUE(action[0] >= -1 && action[0] < 3 && action[1] >= 0);
    at_bound += action[1] == 0;
    for (int k = 0; k < 3; ++k) sum[k] += action[k], squares[k] += action[k] * action[k];
  }
  EXPECT_NEAR(sum[0] / kDraws, 1, 0.1);
  EXPECT_NEAR(squares[2] / kDraws, 1, 0.1);
  EXPECT_NEAR(sum[2] / kDraws, 0, 0.1);
  EXPECT_NEAR(at_bound, kDraws / 2, kDraws / 20) << "half of a standard normal lies below the bound 0";
}

TEST(ActionSpace, ChoosesOnlyAllowedActions) {
  const bp_channel mask = Mask({BP_DTYPE_UINT, 8, 1});
  const ActionSpace space(Discrete(), &mask);
  constexpr uint8_t kAllowed[] = {0, 1, 1}, kNone[] = {0, 0, 0};
  int32_t choice = -1;
  space.Zero(kAllowed, &choice);
  EXPECT_EQ(choice, 1);
  bool seen[3] = {};
  bp_rng rng{7, 0};
  for (int i = 0; i < 100; ++i) {
    space.Uniform(&rng, kAllowed, &choice);
    seen[choice] = true;
  }
  EXPECT_THAT(seen, testing::ElementsAre(false, true, true));
  space.Uniform(&rng, kNone, &choice);
  EXPECT_EQ(choice, 0) << "a row that does not act";
}

constexpr int64_t kTwo[] = {2}, kFour[] = {4}, kSix[] = {6}, kEach[] = {3, 1};

bp_channel MultiDiscrete() {
  bp_channel action = Discrete();
  action.space = BP_SPACE_MULTI_DISCRETE, action.ndim = 1, action.shape = kTwo, action.nvec = kEach;
  return action;
}

TEST(ActionSpace, DrawsEachOfSeveralChoices) {
  bp_channel mask = Mask({BP_DTYPE_UINT, 8, 1});
  mask.shape = kSix;
  const bp_channel action = MultiDiscrete();
  EXPECT_EQ(ActionSpace::FlagsOf(action), 4);
  const ActionSpace space(action, &mask, 2, 6);
  constexpr uint8_t kAllowed[] = {1, 1, 0, 1, 1, 1};  // the first two belong to a different channel
  int32_t choice[2] = {-1, -1};
  space.Zero(kAllowed, choice);
  EXPECT_THAT(choice, testing::ElementsAre(1, 0));
  bool seen[3] = {};
  bp_rng rng{7, 0};
  for (int i = 0; i < 100; ++i) {
    space.Uniform(&rng, kAllowed, choice);
    seen[choice[0]] = true;
    EXPECT_EQ(choice[1], 0);
  }
  EXPECT_THAT(seen, testing::ElementsAre(false, true, true));
  mask.shape = kThree;
  EXPECT_THROW(ActionSpace(action, &mask), std::invalid_argument) << "a flag is missing";
  mask.shape = kFour;
  EXPECT_TRUE(ActionSpace(action, &mask).masked());
}

TEST(ActionSpace, DrawsBits) {
  bp_channel action = Mask({BP_DTYPE_UINT, 8, 1});
  action.role = BP_ROLE_ACTION;
  const ActionSpace space(action);
  EXPECT_FALSE(space.discrete());
  uint8_t bits[3] = {9, 9, 9};
  space.Zero(nullptr, bits);
  EXPECT_THAT(bits, testing::ElementsAre(0, 0, 0));
  int sum[3] = {};
  bp_rng rng{7, 0};
  for (int i = 0; i < 4000; ++i) {
    space.Uniform(&rng, nullptr, bits);
    for (int k = 0; k < 3; ++k) sum[k] += bits[k];
  }
  for (const int ones : sum) EXPECT_NEAR(ones, 2000, 150);
  action.dtype.bits = 16;
  EXPECT_THROW(ActionSpace{action}, std::invalid_argument);
}

TEST(ActionSpace, RejectsMaskOfDifferentType) {
  const bp_channel mask = Mask({BP_DTYPE_FLOAT, 32, 1}), action = Discrete();
  EXPECT_THROW(ActionSpace(action, &mask), std::invalid_argument);
}

}  // namespace
}  // namespace bp
