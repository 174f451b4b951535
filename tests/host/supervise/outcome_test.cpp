#include "supervise/outcome.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace backplane {
namespace {

Verdict Exit(int code, std::optional<std::string> state = std::nullopt, StopReason stop = StopReason::kNone) {
  return Classify({{code, 0}, stop, std::move(state), false});
}
Verdict Death(int signal, StopReason stop = StopReason::kNone, bool oom_killed = false) {
  return Classify({{0, signal}, stop, std::nullopt, oom_killed});
}

TEST(Outcome, ExitCodesOfTheContract) {
  const std::pair<int, const char*> table[] = {{64, "config"}, {75, "temp"}, {78, "config"},   {101, "oom"},
                                               {102, "oom"},   {103, "nan"}, {104, "timeout"}, {110, "plugin"}};
  for (const auto& [code, outcome] : table) {
    EXPECT_EQ(outcome, Exit(code).outcome) << code;
    EXPECT_NE("COMPLETED", Exit(code).state) << code;
  }
}

TEST(Outcome, ExitZeroNeedsAResult) {
  EXPECT_EQ("COMPLETED", Exit(0, "COMPLETED").state);
  EXPECT_EQ("FAILED", Exit(0).state);
  EXPECT_EQ("plugin", Exit(0).outcome);
}

TEST(Outcome, UnknownExitCodeIsAPluginThatEndedTheProcess) {
  EXPECT_EQ("plugin", Exit(7).outcome);
  EXPECT_EQ("plugin", Exit(7, "FAILED").outcome);
  EXPECT_EQ("ok", Exit(7, "COMPLETED").outcome) << "a monitor did so after the trial's end";
  EXPECT_EQ("temp", Exit(75, "COMPLETED").outcome) << "the trial itself says that its result is not safe";
}

TEST(Outcome, SignalsAreNamed) {
  for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGKILL}) {
    EXPECT_EQ("signal", Death(signal).outcome);
    EXPECT_EQ("FAILED", Death(signal).state);
  }
  EXPECT_EQ("SIGSEGV", Death(SIGSEGV).signal);
  EXPECT_EQ("SIGSEGV", Exit(128 + SIGSEGV).signal) << "a launcher between us reports 128 + signal";
}

TEST(Outcome, AKillAfterTheResultCameTooLate) {
  for (const StopReason stop : {StopReason::kNone, StopReason::kInterrupt, StopReason::kWallTime}) {
    EXPECT_EQ("COMPLETED", Classify({{0, SIGKILL}, stop, "COMPLETED", false}).state);
    EXPECT_EQ("COMPLETED", Classify({{0, SIGKILL}, stop, "COMPLETED", true}).state);
  }
  EXPECT_NE("COMPLETED", Classify({{0, SIGKILL}, StopReason::kWallTime, "KILLED", false}).state);
}

TEST(Outcome, SigkillByTheKernelsMemoryKillerIsOom) { EXPECT_EQ("oom", Death(SIGKILL, StopReason::kNone, true).outcome); }

TEST(Outcome, CrashNearTheMemoryLimitIsOom) {
  const auto death = [](int signal, uint64_t peak) {
    return Classify({{0, signal}, StopReason::kNone, std::nullopt, false, peak, 1000}).outcome;
  };
  for (const int signal : {SIGSEGV, SIGABRT, SIGBUS}) {
    EXPECT_EQ("oom", death(signal, 950));
    EXPECT_EQ("signal", death(signal, 949));
  }
  EXPECT_EQ("signal", death(SIGFPE, 1000)) << "no allocation that fails divides by zero";
}

TEST(Outcome, OomSaysWhatWasTakenAndGranted) {
  const Verdict verdict = Classify({{0, SIGKILL}, StopReason::kNone, std::nullopt, true, 300 << 20, 256 << 20});
  EXPECT_EQ("memory ran out: more than the 256 MiB granted was asked for; its largest process had got 300 MiB", verdict.why);
}

TEST(Outcome, ShellCodesAreSignalsFrom129To159) {
  EXPECT_EQ("signal", Exit(129).outcome);
  EXPECT_EQ("signal", Exit(159).outcome);
  EXPECT_EQ("plugin", Exit(128).outcome);
  EXPECT_EQ("plugin", Exit(160).outcome);
}

TEST(Outcome, StoppedOnRequestIsKilled) {
  EXPECT_EQ("killed", Exit(75, "KILLED", StopReason::kInterrupt).outcome);
  EXPECT_EQ("killed", Death(SIGKILL, StopReason::kInterrupt).outcome);
  EXPECT_EQ("KILLED", Death(SIGTERM, StopReason::kInterrupt).state);
}

TEST(Outcome, CrashWhileStoppingIsStillACrash) { EXPECT_EQ("signal", Death(SIGSEGV, StopReason::kInterrupt).outcome); }

TEST(Outcome, TrialThatCompletedWhileItWasStoppedIsComplete) {
  EXPECT_EQ("COMPLETED", Exit(0, "COMPLETED", StopReason::kInterrupt).state);
}

TEST(Outcome, HangAndWallTimeAreTimeouts) {
  EXPECT_EQ("timeout", Death(SIGKILL, StopReason::kHang).outcome);
  EXPECT_EQ("timeout", Exit(75, "KILLED", StopReason::kWallTime).outcome);
}

}  // namespace
}  // namespace backplane
