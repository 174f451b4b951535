#include "rollout/phase_trace.hpp"

#include <gtest/gtest.h>

#include <map>

namespace backplane {
namespace {

constexpr int64_t kMsNs = 1'000'000;

std::map<Phase, int64_t> Sums(const PhaseTrace& trace) {
  std::map<Phase, int64_t> sums;
  for (const TracedSpan& span : trace.spans()) sums[span.phase] += span.duration_ns;
  return sums;
}

void ExpectNoGapAndNoOverlap(const PhaseTrace& trace) {
  for (size_t i = 1; i < trace.spans().size(); ++i) {
    const TracedSpan& before = trace.spans()[i - 1];
    EXPECT_EQ(before.begin_ns + before.duration_ns, trace.spans()[i].begin_ns) << "span " << i;
  }
}

TEST(PhaseTrace, KeepsLongSpansUnchanged) {
  PhaseTrace trace(16);
  trace.Add(Phase::kInfer, 5 * kMsNs, 7 * kMsNs);
  trace.Add(Phase::kEnvStep, 7 * kMsNs, 10 * kMsNs);
  trace.Add(Phase::kInfer, 10 * kMsNs, 11 * kMsNs);
  ASSERT_EQ(trace.spans().size(), 3u);
  EXPECT_EQ(trace.spans()[1].begin_ns, 7 * kMsNs);
  EXPECT_EQ(trace.spans()[1].duration_ns, 3 * kMsNs);
  EXPECT_EQ(trace.spans()[1].phase, Phase::kEnvStep);
  EXPECT_EQ(trace.spans()[1].count, 1u);
}

TEST(PhaseTrace, AMillionTinySpansBecomeAFewWithTheSameSums) {
  PhaseTrace trace(4096);
  int64_t at = 3;
  std::map<Phase, int64_t> sums;
  for (int i = 0; i < 500'000; ++i) {
    for (const auto& [phase, ns] : {std::pair(Phase::kInfer, int64_t{700}), std::pair(Phase::kEnvStep, int64_t{300 + i % 7})}) {
      trace.Add(phase, at, at + ns);
      at += ns, sums[phase] += ns;
    }
  }
  trace.EndBlock();
  EXPECT_EQ(trace.dropped(), 0u);
  EXPECT_LE(trace.spans().size(), static_cast<size_t>(2 * at / PhaseTrace::kResolutionNs + 2));
  EXPECT_EQ(Sums(trace), sums);
  ExpectNoGapAndNoOverlap(trace);
  uint64_t count = 0;
  for (const TracedSpan& span : trace.spans()) count += span.count;
  EXPECT_EQ(count, 1'000'000u);
}

TEST(PhaseTrace, ALongSpanEndsTheBlockBeforeIt) {
  PhaseTrace trace(16);
  trace.Add(Phase::kInfer, 1, 101);
  trace.Add(Phase::kUpdateOptim, 101, 101 + 2 * kMsNs);
  ASSERT_EQ(trace.spans().size(), 2u);
  EXPECT_EQ(trace.spans()[0].phase, Phase::kInfer);
  EXPECT_EQ(trace.spans()[1].phase, Phase::kUpdateOptim);
  ExpectNoGapAndNoOverlap(trace);
}

TEST(PhaseTrace, AThreadAtRestIsIdle) {
  PhaseTrace trace(16);
  trace.Add(Phase::kEval, kMsNs, 2 * kMsNs);
  trace.Add(Phase::kEval, 5 * kMsNs, 6 * kMsNs);
  ASSERT_EQ(trace.spans().size(), 3u);
  EXPECT_EQ(trace.spans()[1].phase, Phase::kIdle);
  ExpectNoGapAndNoOverlap(trace);
}

TEST(PhaseTrace, AFullBufferDropsAndCounts) {
  PhaseTrace trace(2);
  for (int i = 1; i <= 5; ++i) trace.Add(Phase::kEval, i * kMsNs, (i + 1) * kMsNs);
  EXPECT_EQ(trace.spans().size(), 2u);
  EXPECT_EQ(trace.dropped(), 3u);
  trace.Clear();
  trace.Add(Phase::kEval, 6 * kMsNs, 7 * kMsNs);
  EXPECT_EQ(trace.spans().size(), 1u);
  EXPECT_EQ(trace.dropped(), 0u);
}

TEST(PhaseTrace, EqualsTheClockToTheNanosecond) {
  PhaseTrace trace(1024);
  PhaseClock clock;
  clock.TraceInto(&trace);
  clock.Start(Phase::kSync);
  for (int i = 0; i < 1000; ++i) {
    clock.Switch(i % 2 ? Phase::kInfer : Phase::kEnvStep);
    const PhaseSpan nested(clock, Phase::kEnvReset);
  }
  clock.Stop();
  trace.EndBlock();
  for (const auto& [phase, ns] : Sums(trace)) EXPECT_EQ(ns, clock.ns(phase)) << kPhaseNames[static_cast<size_t>(phase)];
  ExpectNoGapAndNoOverlap(trace);
  clock.TraceInto(nullptr);
  trace.Clear();
  clock.Start(Phase::kSync);
  clock.Stop();
  trace.EndBlock();
  EXPECT_TRUE(trace.spans().empty()) << "without a listener";
}

// A span that began before the process was known to be stopped would have a negative length.
TEST(PhaseClock, IsNeverNegative) {
  constexpr int64_t kMinuteNs = 60'000'000'000;
  PhaseClock clock;
  PhaseTrace trace(16);
  clock.TraceInto(&trace);
  clock.Start(Phase::kInfer);
  clock.Switch(Phase::kEnvStep);
  suspended_ns += kMinuteNs;
  clock.Switch(Phase::kInfer);
  clock.Stop();
  suspended_ns -= kMinuteNs;
  trace.EndBlock();
  EXPECT_EQ(clock.ns(Phase::kEnvStep), 0);
  EXPECT_GE(clock.ns(Phase::kInfer), 0);
  EXPECT_EQ(clock.total_ns(), 0);
  EXPECT_GE(clock.cpu_wall_ns(Phase::kEnvStep), 0);
  for (const TracedSpan& span : trace.spans()) EXPECT_GE(span.duration_ns, 0);
}

}  // namespace
}  // namespace backplane
