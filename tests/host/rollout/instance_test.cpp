// What the host refuses of an env's channels and of a learner for it, before any step.
#include "rollout/instance.hpp"

#include <gtest/gtest.h>

#include "toy_plugins.hpp"

namespace backplane::toy {
namespace {

// The sentence with which a trial of the toy is refused whose env's channels were changed so; empty if it is not.
std::string Refusal(void (*edit)(bp_channel* channels)) {
  g_switches.edit = edit;
  std::string sentence;
  try {
    const ToyTrial trial(4, 1);
  } catch (const TrialFailure& e) {
    sentence = e.what();
  }
  g_switches.edit = nullptr;
  return sentence;
}

enum { kObs, kAction, kReward, kTerminated, kInfo, kTruncated };
constexpr int64_t kNoChoice[] = {0}, kTwoChoices[] = {2}, kOneOfThreeEmpty[] = {2, -1, 2}, kThreeByTwo[] = {2, 2, 2};
constexpr double kTwoBounds[] = {-1, 1};

TEST(EnvInstance, TakesChannelsThatSayWhatTheyMayHold) {
  EXPECT_EQ(Refusal([](bp_channel*) {}), "");
  EXPECT_EQ(Refusal([](bp_channel* c) { c[kInfo].space = BP_SPACE_DISCRETE, c[kInfo].nvec = kTwoChoices; }), "");
  EXPECT_EQ(Refusal([](bp_channel* c) { c[kObs].space = BP_SPACE_MULTI_DISCRETE, c[kObs].nvec = kThreeByTwo; }), "");
}

TEST(EnvInstance, RefusesAChoiceAmongNobodyKnowsHowMany) {
  EXPECT_EQ(Refusal([](bp_channel* c) { c[kAction].space = BP_SPACE_DISCRETE; }),
            "env.toy: channel 'action': wanted the numbers of choices in nvec, found NULL");
  EXPECT_EQ(Refusal([](bp_channel* c) { c[kObs].space = BP_SPACE_MULTI_DISCRETE; }),
            "env.toy: channel 'obs': wanted the numbers of choices in nvec, found NULL");
}

TEST(EnvInstance, RefusesAChoiceAmongNothing) {
  EXPECT_EQ(Refusal([](bp_channel* c) { c[kAction].space = BP_SPACE_DISCRETE, c[kAction].nvec = kNoChoice; }),
            "env.toy: channel 'action': wanted 1 choice or more, found nvec[0] = 0");
  EXPECT_EQ(Refusal([](bp_channel* c) { c[kObs].space = BP_SPACE_MULTI_DISCRETE, c[kObs].nvec = kOneOfThreeEmpty; }),
            "env.toy: channel 'obs': wanted 1 choice or more, found nvec[1] = -1");
}

TEST(EnvInstance, RefusesBoundsForSomeElements) {
  EXPECT_EQ(Refusal([](bp_channel* c) { c[kObs].low = c[kObs].high = kTwoBounds, c[kObs].n_bounds = 2; }),
            "env.toy: channel 'obs': wanted bounds for none, for all or for each of its 3 elements, found n_bounds = 2");
}

TEST(EnvInstance, RefusesBoundsThatAreNotThere) {
  EXPECT_EQ(Refusal([](bp_channel* c) { c[kObs].n_bounds = 1; }),
            "env.toy: channel 'obs': wanted low and high, since n_bounds = 1, found low = NULL");
  EXPECT_EQ(Refusal([](bp_channel* c) { c[kAction].high = nullptr; }),
            "env.toy: channel 'action': wanted low and high, since n_bounds = 1, found high = NULL");
}

TEST(LearnerInstance, KeepsTruncatedOnlyIfTheHostOrTheEnvWritesIt) {
  EXPECT_EQ(Refusal([](bp_channel*) {}), "") << "the host writes it";
  g_switches.owns_time_limit = true;
  EXPECT_EQ(Refusal([](bp_channel*) {}), "") << "the env writes it";
  EXPECT_EQ(Refusal([](bp_channel* c) { c[kTruncated].name = "cut"; }),
            "learner.toy: wants to keep the channel 'truncated', which neither it nor env.toy writes");
  g_switches.owns_time_limit = false;
}

}  // namespace
}  // namespace backplane::toy
