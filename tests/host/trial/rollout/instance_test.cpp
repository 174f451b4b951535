// Env channels, and learners for an env, that the host rejects before any step.
#include "rollout/instance.hpp"

#include <gtest/gtest.h>

#include "toy_plugins.hpp"

namespace backplane::toy {
namespace {

// The error of a trial of the toy with edited channels, or empty.
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

TEST(EnvInstance, AcceptsChannelsWithDeclaredSpaces) {
  EXPECT_EQ(Refusal([](bp_channel*) {}), "");
  EXPECT_EQ(Refusal([](bp_channel* c) { c[kInfo].space = BP_SPACE_DISCRETE, c[kInfo].nvec = kTwoChoices; }), "");
  EXPECT_EQ(Refusal([](bp_channel* c) { c[kObs].space = BP_SPACE_MULTI_DISCRETE, c[kObs].nvec = kThreeByTwo; }), "");
}

TEST(EnvInstance, RejectsChoicesWithoutNumbers) {
  EXPECT_EQ(Refusal([](bp_channel* c) { c[kAction].space = BP_SPACE_DISCRETE; }),
            "env.toy: channel 'action': expected the numbers of choices in nvec, got NULL");
  EXPECT_EQ(Refusal([](bp_channel* c) { c[kObs].space = BP_SPACE_MULTI_DISCRETE; }),
            "env.toy: channel 'obs': expected the numbers of choices in nvec, got NULL");
}

TEST(EnvInstance, RejectsChoicesWithoutAlternatives) {
  EXPECT_EQ(Refusal([](bp_channel* c) { c[kAction].space = BP_SPACE_DISCRETE, c[kAction].nvec = kNoChoice; }),
            "env.toy: channel 'action': expected 1 choice or more, got nvec[0] = 0");
  EXPECT_EQ(Refusal([](bp_channel* c) { c[kObs].space = BP_SPACE_MULTI_DISCRETE, c[kObs].nvec = kOneOfThreeEmpty; }),
            "env.toy: channel 'obs': expected 1 choice or more, got nvec[1] = -1");
}

TEST(EnvInstance, RejectsBoundsForSomeElements) {
  EXPECT_EQ(Refusal([](bp_channel* c) { c[kObs].low = c[kObs].high = kTwoBounds, c[kObs].n_bounds = 2; }),
            "env.toy: channel 'obs': expected no bounds, one pair for all elements, or one pair for each of its 3 elements, "
            "got n_bounds = 2");
}

TEST(EnvInstance, RejectsMissingBounds) {
  EXPECT_EQ(Refusal([](bp_channel* c) { c[kObs].n_bounds = 1; }),
            "env.toy: channel 'obs': expected low and high, since n_bounds = 1, got low = NULL");
  EXPECT_EQ(Refusal([](bp_channel* c) { c[kAction].high = nullptr; }),
            "env.toy: channel 'action': expected low and high, since n_bounds = 1, got high = NULL");
}

// The host does not allocate memory for a declared size alone: 8 TiB are an error, not a lack of memory.
TEST(EnvInstance, RejectsHugeLists) {
  static constexpr int64_t kWide[] = {int64_t{1} << 36}, kMillion[] = {int64_t{1} << 20};
  const auto nowhere = [](bp_channel* c, const int64_t* shape) {
    c[kObs].shape = shape, c[kObs].ndim = 1, c[kObs].n_bounds = static_cast<uint64_t>(shape[0]);
    c[kObs].low = c[kObs].high = reinterpret_cast<const double*>(0x1230);
  };
  static const auto& with = nowhere;
  EXPECT_EQ(Refusal([](bp_channel* c) { with(c, kWide); }),
            "env.toy: channel 'obs': expected at most 16777216 numbers in low, got 68719476736");
  EXPECT_EQ(Refusal([](bp_channel* c) { with(c, kMillion); }),
            "env.toy: channel 'obs': expected 1048576 numbers in low, got memory at 0x1230 that cannot be read");
}

TEST(LearnerInstance, KeepsTruncatedOnlyIfTheHostOrTheEnvWritesIt) {
  EXPECT_EQ(Refusal([](bp_channel*) {}), "") << "the host writes it";
  g_switches.owns_time_limit = true;
  EXPECT_EQ(Refusal([](bp_channel*) {}), "") << "the env writes it";
  EXPECT_EQ(Refusal([](bp_channel* c) { c[kTruncated].name = "cut"; }),
            "learner.toy: keeps the channel 'truncated', which neither it nor env.toy writes");
  g_switches.owns_time_limit = false;
}

}  // namespace
}  // namespace backplane::toy
