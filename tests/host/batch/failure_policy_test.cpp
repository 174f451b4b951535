#include "batch/failure_policy.hpp"

#include <gtest/gtest.h>

namespace backplane {
namespace {

AttemptVerdict Failed(Outcome outcome, bool on_device = false) {
  AttemptVerdict verdict;
  verdict.state = TrialState::kFailed;
  verdict.outcome = outcome;
  verdict.on_device = on_device;
  return verdict;
}

TEST(FailurePolicy, SignalIsRetriedOnce) {
  FailurePolicy failure_policy{OnFailure()};
  EXPECT_EQ(failure_policy.After("a", Failed(Outcome::kSignal)).state, TrialState::kPlanned);
  EXPECT_EQ(failure_policy.After("b", Failed(Outcome::kSignal)).state, TrialState::kPlanned)
      << "every trial has its own attempts";
  EXPECT_EQ(failure_policy.After("a", Failed(Outcome::kSignal)).state, TrialState::kFailed);
}

TEST(FailurePolicy, TemporaryFailureWaitsLongerEachTime) {
  FailurePolicy failure_policy{OnFailure()};
  std::vector<double> waits;
  for (int i = 0; i < 3; ++i) waits.push_back(failure_policy.After("a", Failed(Outcome::kTemp)).retry_after_s.value());
  EXPECT_EQ(waits, (std::vector<double>{1, 2, 4}));
  EXPECT_EQ(failure_policy.After("a", Failed(Outcome::kTemp)).state, TrialState::kFailed);
}

TEST(FailurePolicy, OutOfMemoryIsAResultByDefault) {
  OnFailure rules;
  rules.device_oom = {FailureAction::kFail};
  FailurePolicy failure_policy(rules);
  EXPECT_EQ(failure_policy.After("a", Failed(Outcome::kOom)).state, TrialState::kInfeasible);
  EXPECT_EQ(failure_policy.After("a", Failed(Outcome::kOom, /*on_device=*/true)).state, TrialState::kFailed);
}

TEST(FailurePolicy, StoppedTrialStaysPlanned) {
  FailurePolicy failure_policy{OnFailure()};
  const FailureDecision next = failure_policy.After("a", Failed(Outcome::kKilled));
  EXPECT_EQ(next.state, TrialState::kPlanned);
  EXPECT_FALSE(next.retry_after_s) << "not in this session";
}

TEST(StopRules, ThreeFailuresWithinAMinutePauseAndInSixtyOneSecondsDoNot) {
  StopRules quick(StopSweep(), 24), slow(StopSweep(), 24);
  quick.Ended(TrialState::kCompleted, Outcome::kOk, 0);
  slow.Ended(TrialState::kCompleted, Outcome::kOk, 0);
  EXPECT_FALSE(quick.Ended(TrialState::kFailed, Outcome::kSignal, 10));
  EXPECT_FALSE(quick.Ended(TrialState::kFailed, Outcome::kSignal, 40));
  EXPECT_TRUE(quick.Ended(TrialState::kFailed, Outcome::kPlugin, 70));
  EXPECT_FALSE(slow.Ended(TrialState::kFailed, Outcome::kSignal, 10));
  EXPECT_FALSE(slow.Ended(TrialState::kFailed, Outcome::kSignal, 40));
  EXPECT_FALSE(slow.Ended(TrialState::kFailed, Outcome::kPlugin, 71));
}

TEST(StopRules, IgnoreFailuresCausedByValues) {
  StopRules rules(StopSweep(), 24);
  for (int i = 0; i < 10; ++i) {
    EXPECT_FALSE(rules.Ended(TrialState::kFailed, Outcome::kNan, i));
    EXPECT_FALSE(rules.Ended(TrialState::kInfeasible, Outcome::kOom, i));
  }
}

TEST(StopRules, FiveFailuresBeforeAnySuccessPause) {
  StopSweep wide;
  wide.flapping.failures = 0;
  StopRules rules(wide, 24), after_success(wide, 24);
  after_success.Ended(TrialState::kCompleted, Outcome::kOk, 0);
  for (int i = 0; i < 4; ++i) {
    EXPECT_FALSE(rules.Ended(TrialState::kFailed, Outcome::kTimeout, 1000.0 * i));
    EXPECT_FALSE(after_success.Ended(TrialState::kFailed, Outcome::kTimeout, 1000.0 * i));
  }
  EXPECT_TRUE(rules.Ended(TrialState::kFailed, Outcome::kTimeout, 5000));
  EXPECT_FALSE(after_success.Ended(TrialState::kFailed, Outcome::kTimeout, 5000));
}

TEST(StopRules, TooLargeAShareOfFailuresPauses) {
  StopSweep half;
  half.max_failed_fraction = 0.5;
  StopRules rules(half, 4);
  EXPECT_FALSE(rules.Ended(TrialState::kFailed, Outcome::kNan, 0));
  EXPECT_FALSE(rules.Ended(TrialState::kFailed, Outcome::kNan, 100));
  EXPECT_TRUE(rules.Ended(TrialState::kFailed, Outcome::kNan, 200));
}

TEST(FailurePolicy, NextSessionRetriesTemporaryFailures) {
  TrialRecord trial;
  trial.state = TrialState::kFailed;
  trial.outcome = Outcome::kTemp;
  OnFailure rules;
  EXPECT_TRUE(FailurePolicy(rules).MayPassByNow(trial));
  rules.temp = {FailureAction::kFail, 0};
  EXPECT_FALSE(FailurePolicy(rules).MayPassByNow(trial));
  trial.outcome = Outcome::kNan;
  EXPECT_FALSE(FailurePolicy(OnFailure()).MayPassByNow(trial));
}

}  // namespace
}  // namespace backplane
