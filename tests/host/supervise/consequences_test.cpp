#include "supervise/consequences.hpp"

#include <gtest/gtest.h>

namespace backplane {
namespace {

Verdict Failed(const std::string& outcome, bool on_device = false) {
  Verdict verdict;
  verdict.state = "FAILED";
  verdict.outcome = outcome;
  verdict.on_device = on_device;
  return verdict;
}

TEST(Consequences, ASignalIsTriedOnceMoreThenItIsAFailure) {
  Consequences consequences{OnFailure()};
  EXPECT_EQ(consequences.After("a", Failed("signal")).state, "PLANNED");
  EXPECT_EQ(consequences.After("b", Failed("signal")).state, "PLANNED") << "another trial has tries of its own";
  EXPECT_EQ(consequences.After("a", Failed("signal")).state, "FAILED");
}

TEST(Consequences, ATemporaryFailureWaitsLongerEachTime) {
  Consequences consequences{OnFailure()};
  std::vector<double> waits;
  for (int i = 0; i < 3; ++i) waits.push_back(consequences.After("a", Failed("temp")).retry_after_s.value());
  EXPECT_EQ(waits, (std::vector<double>{1, 2, 4}));
  EXPECT_EQ(consequences.After("a", Failed("temp")).state, "FAILED");
}

TEST(Consequences, OutOfMemoryIsAResultUnlessTheFileSaysOtherwise) {
  OnFailure rules;
  rules.device_oom = {FailureAction::kFail};
  Consequences consequences(rules);
  EXPECT_EQ(consequences.After("a", Failed("oom")).state, "INFEASIBLE");
  EXPECT_EQ(consequences.After("a", Failed("oom", /*on_device=*/true)).state, "FAILED");
}

TEST(Consequences, WhatWasStoppedIsStillToDo) {
  Consequences consequences{OnFailure()};
  const Consequence next = consequences.After("a", Failed("killed"));
  EXPECT_EQ(next.state, "PLANNED");
  EXPECT_FALSE(next.retry_after_s) << "not in this session";
}

TEST(StopRules, ThreeFailuresWithinAMinutePauseAndInSixtyOneSecondsDoNot) {
  StopRules quick(StopSweep(), 24), slow(StopSweep(), 24);
  quick.Ended("COMPLETED", "ok", 0);
  slow.Ended("COMPLETED", "ok", 0);
  EXPECT_FALSE(quick.Ended("FAILED", "signal", 10));
  EXPECT_FALSE(quick.Ended("FAILED", "signal", 40));
  EXPECT_TRUE(quick.Ended("FAILED", "plugin", 70));
  EXPECT_FALSE(slow.Ended("FAILED", "signal", 10));
  EXPECT_FALSE(slow.Ended("FAILED", "signal", 40));
  EXPECT_FALSE(slow.Ended("FAILED", "plugin", 71));
}

TEST(StopRules, WhatTheNumbersBroughtAboutDoesNotCount) {
  StopRules rules(StopSweep(), 24);
  for (int i = 0; i < 10; ++i) {
    EXPECT_FALSE(rules.Ended("FAILED", "nan", i));
    EXPECT_FALSE(rules.Ended("INFEASIBLE", "oom", i));
  }
}

TEST(StopRules, FiveFailuresBeforeAnySuccessPause) {
  StopSweep wide;
  wide.flapping.failures = 0;
  StopRules rules(wide, 24), after_success(wide, 24);
  after_success.Ended("COMPLETED", "ok", 0);
  for (int i = 0; i < 4; ++i) {
    EXPECT_FALSE(rules.Ended("FAILED", "timeout", 1000.0 * i));
    EXPECT_FALSE(after_success.Ended("FAILED", "timeout", 1000.0 * i));
  }
  EXPECT_TRUE(rules.Ended("FAILED", "timeout", 5000));
  EXPECT_FALSE(after_success.Ended("FAILED", "timeout", 5000));
}

TEST(StopRules, TooLargeAShareOfFailuresPauses) {
  StopSweep half;
  half.max_failed_fraction = 0.5;
  StopRules rules(half, 4);
  EXPECT_FALSE(rules.Ended("FAILED", "nan", 0));
  EXPECT_FALSE(rules.Ended("FAILED", "nan", 100));
  EXPECT_TRUE(rules.Ended("FAILED", "nan", 200));
}

TEST(Consequences, WhatWasNotTheTrialsFaultIsTriedAgainByTheNextSession) {
  TrialRecord trial;
  trial.state = "FAILED";
  trial.outcome = "temp";
  OnFailure rules;
  EXPECT_TRUE(Consequences(rules).MayPassByNow(trial));
  rules.temp = {FailureAction::kFail, 0};
  EXPECT_FALSE(Consequences(rules).MayPassByNow(trial));
  trial.outcome = "nan";
  EXPECT_FALSE(Consequences(OnFailure()).MayPassByNow(trial));
}

}  // namespace
}  // namespace backplane
