#include "data/micro_batch_limit.hpp"

#include <gtest/gtest.h>

#include "data_trial.hpp"

namespace backplane {
namespace {

// On the fixture's device, n of the longest items use 1,000 + 60 n bytes.
uint64_t BytesOf(uint64_t n) { return 1000 + 60 * n; }

uint64_t Largest(uint64_t most, uint64_t device_bytes, bool tells_use, size_t* tries) {
  DataTrial trial({}, {{"tells_use", tells_use}});
  trial.learner->Plan(LimitsOf(10, device_bytes));
  const uint64_t n = LargestMicroBatch(*trial.env, *trial.learner, most, device_bytes, [] { return false; });
  *tries = trial.adds().seen().size();
  EXPECT_EQ(trial.adds().sum(), 0) << "nothing was learned";
  return n;
}

TEST(LargestMicroBatch, IsTheLargestThatFits) {
  for (const bool tells_use : {true, false})
    for (uint64_t n = 1; n <= 64; ++n)
      for (const uint64_t spare : {0, 59}) {
        size_t tries = 0;
        EXPECT_EQ(Largest(64, BytesOf(n) + spare, tells_use, &tries), n);
      }
}

TEST(LargestMicroBatch, NeedsFewAttemptsIfTheDeviceReportsItsUse) {
  size_t tries = 0;
  EXPECT_EQ(Largest(1000, BytesOf(700), true, &tries), 700u);
  EXPECT_LE(tries, 3u) << "one, two, and the guess; the next does not fit";
}

TEST(LargestMicroBatch, IsTheWholeGroupIfItFits) {
  size_t tries = 0;
  EXPECT_EQ(Largest(64, BytesOf(1000), true, &tries), 64u);
  EXPECT_EQ(Largest(64, 0, true, &tries), 64u);
  EXPECT_EQ(Largest(1, 0, true, &tries), 1u);
}

TEST(LargestMicroBatch, FailsIfOneItemDoesNotFit) {
  size_t tries = 0;
  EXPECT_THROW(Largest(64, BytesOf(1) - 1, true, &tries), TrialFailure);
}

TEST(LargestMicroBatch, CanBeStopped) {
  DataTrial trial;
  trial.learner->Plan(LimitsOf(10, 0));
  try {
    LargestMicroBatch(*trial.env, *trial.learner, 64, 0, [] { return true; });
    FAIL();
  } catch (const TrialFailure& failure) {
    EXPECT_EQ(failure.status(), BP_E_CANCELLED);
  }
}

}  // namespace
}  // namespace backplane
