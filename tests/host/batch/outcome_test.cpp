#include "batch/outcome.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace backplane {
namespace {

AttemptVerdict Exit(int code, std::optional<TrialState> state = std::nullopt, StopReason stop = StopReason::kNone) {
  return Classify({{code, 0}, stop, state, false});
}
AttemptVerdict Death(int signal, StopReason stop = StopReason::kNone, bool oom_killed = false) {
  return Classify({{0, signal}, stop, std::nullopt, oom_killed});
}

TEST(Outcome, ExitCodesOfTheContract) {
  const std::pair<int, Outcome> table[] = {{64, Outcome::kConfig},   {75, Outcome::kTemp},   {78, Outcome::kConfig},
                                           {101, Outcome::kOom},     {102, Outcome::kOom},   {103, Outcome::kNan},
                                           {104, Outcome::kTimeout}, {110, Outcome::kPlugin}};
  for (const auto& [code, outcome] : table) {
    EXPECT_EQ(outcome, Exit(code).outcome) << code;
    EXPECT_NE(TrialState::kCompleted, Exit(code).state) << code;
  }
}

TEST(Outcome, ExitZeroNeedsAResult) {
  EXPECT_EQ(TrialState::kCompleted, Exit(0, TrialState::kCompleted).state);
  EXPECT_EQ(TrialState::kFailed, Exit(0).state);
  EXPECT_EQ(Outcome::kPlugin, Exit(0).outcome);
}

TEST(Outcome, UnknownExitCodeIsAPluginThatEndedTheProcess) {
  EXPECT_EQ(Outcome::kPlugin, Exit(7).outcome);
  EXPECT_EQ(Outcome::kPlugin, Exit(7, TrialState::kFailed).outcome);
  EXPECT_EQ(Outcome::kOk, Exit(7, TrialState::kCompleted).outcome) << "a monitor ended the process after the trial";
  EXPECT_EQ(Outcome::kTemp, Exit(75, TrialState::kCompleted).outcome) << "the trial reports its result as unsafe";
}

TEST(Outcome, SignalsAreNamed) {
  for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGKILL}) {
    EXPECT_EQ(Outcome::kSignal, Death(signal).outcome);
    EXPECT_EQ(TrialState::kFailed, Death(signal).state);
  }
  EXPECT_EQ("SIGSEGV", Death(SIGSEGV).signal);
  EXPECT_EQ("SIGSEGV", Exit(128 + SIGSEGV).signal) << "a launcher between us reports 128 + signal";
}

TEST(Outcome, IgnoresAKillAfterTheResult) {
  for (const StopReason stop : {StopReason::kNone, StopReason::kInterrupt, StopReason::kWallTime}) {
    EXPECT_EQ(TrialState::kCompleted, Classify({{0, SIGKILL}, stop, TrialState::kCompleted, false}).state);
    EXPECT_EQ(TrialState::kCompleted, Classify({{0, SIGKILL}, stop, TrialState::kCompleted, true}).state);
  }
  EXPECT_NE(TrialState::kCompleted, Classify({{0, SIGKILL}, StopReason::kWallTime, TrialState::kKilled, false}).state);
}

TEST(Outcome, SigkillByTheKernelsMemoryKillerIsOom) {
  EXPECT_EQ(Outcome::kOom, Death(SIGKILL, StopReason::kNone, true).outcome);
}

TEST(Outcome, CrashNearTheMemoryLimitIsOom) {
  const auto death = [](int signal, uint64_t peak) {
    return Classify({{0, signal}, StopReason::kNone, std::nullopt, false, peak, 1000}).outcome;
  };
  for (const int signal : {SIGSEGV, SIGABRT, SIGBUS}) {
    EXPECT_EQ(Outcome::kOom, death(signal, 950));
    EXPECT_EQ(Outcome::kSignal, death(signal, 949));
  }
  EXPECT_EQ(Outcome::kSignal, death(SIGFPE, 1000)) << "a failed allocation never divides by zero";
}

TEST(Outcome, OomReportsUsedAndGrantedMemory) {
  const AttemptVerdict verdict = Classify({{0, SIGKILL}, StopReason::kNone, std::nullopt, true, 300 << 20, 256 << 20});
  EXPECT_EQ("memory ran out: the trial requested more than resources.memory (256 MiB); its largest process had 300 MiB",
            verdict.why);
}

TEST(Outcome, ShellCodesAreSignalsFrom129To159) {
  EXPECT_EQ(Outcome::kSignal, Exit(129).outcome);
  EXPECT_EQ(Outcome::kSignal, Exit(159).outcome);
  EXPECT_EQ(Outcome::kPlugin, Exit(128).outcome);
  EXPECT_EQ(Outcome::kPlugin, Exit(160).outcome);
}

TEST(Outcome, StoppedOnRequestIsKilled) {
  EXPECT_EQ(Outcome::kKilled, Exit(75, TrialState::kKilled, StopReason::kInterrupt).outcome);
  EXPECT_EQ(Outcome::kKilled, Death(SIGKILL, StopReason::kInterrupt).outcome);
  EXPECT_EQ(TrialState::kKilled, Death(SIGTERM, StopReason::kInterrupt).state);
}

TEST(Outcome, CrashWhileStoppingIsStillACrash) { EXPECT_EQ(Outcome::kSignal, Death(SIGSEGV, StopReason::kInterrupt).outcome); }

TEST(Outcome, TrialThatCompletedWhileItWasStoppedIsComplete) {
  EXPECT_EQ(TrialState::kCompleted, Exit(0, TrialState::kCompleted, StopReason::kInterrupt).state);
}

TEST(Outcome, HangAndWallTimeAreTimeouts) {
  EXPECT_EQ(Outcome::kTimeout, Death(SIGKILL, StopReason::kHang).outcome);
  EXPECT_EQ(Outcome::kTimeout, Exit(75, TrialState::kKilled, StopReason::kWallTime).outcome);
}

TEST(Outcome, NamesLimitThatEndedTrial) {
  Ending ending{{75, 0}, StopReason::kWallTime, TrialState::kKilled};
  ending.wall_time_s = 3;
  ending.hang_timeout_s = 2;
  EXPECT_EQ("took longer than resources.wall_time (3s)", Classify(ending).why);
  ending.queued_s = 12.7;
  EXPECT_EQ("took longer than resources.wall_time (3s), not counting 12s in the queue", Classify(ending).why);
  EXPECT_TRUE(Classify(ending).by_limit);
  ending.stop = StopReason::kHang;
  EXPECT_EQ("gave no sign of life for 2s (resources.hang_timeout) and was killed", Classify(ending).why);
  EXPECT_TRUE(Classify(ending).by_limit);
  ending.stop = StopReason::kInterrupt;
  EXPECT_FALSE(Classify(ending).by_limit) << "the stop was requested";
}

TEST(Outcome, NamesThePluginThatHung) {
  Ending ending{{0, SIGKILL}, StopReason::kHang};
  ending.hang_timeout_s = 2;
  ending.plugin = "env.sleeper";
  EXPECT_EQ("env.sleeper gave no sign of life for 2s (resources.hang_timeout) and was killed", Classify(ending).why);
}

TEST(Outcome, ReportsSilenceAsTimeoutWithState) {
  Ending ending{{0, SIGKILL}};
  ending.hang_timeout_s = 2;
  ending.over_silence = true;
  ending.stuck = "it was stopped (state T)";
  const AttemptVerdict verdict = Classify(ending);
  EXPECT_EQ(Outcome::kTimeout, verdict.outcome);
  EXPECT_EQ("gave no sign of life for 4s (2 x resources.hang_timeout) and was killed; it was stopped (state T)", verdict.why);
  ending.result_state = TrialState::kCompleted;
  EXPECT_EQ(TrialState::kCompleted, Classify(ending).state) << "it had ended";
}

TEST(Outcome, ReportsTrialThatCannotBeKilled) {
  Ending ending{{0, SIGKILL}, StopReason::kHang};
  ending.hang_timeout_s = 2;
  ending.left = true;
  ending.stuck = "it waited for a disk (state D)";
  EXPECT_EQ("gave no sign of life for 2s (resources.hang_timeout) and could not be killed; it waited for a disk (state D)",
            Classify(ending).why);
}

}  // namespace
}  // namespace backplane
