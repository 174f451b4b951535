#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <initializer_list>
#include <latch>
#include <thread>

#include "trial/phase_meter.hpp"

namespace backplane {
namespace {

void Spend(PhaseClock& clock, Phase phase, int ms) {
  const PhaseSpan span(clock, phase);
  for (const int64_t end = NowNs() + ms * 1'000'000; NowNs() < end;) {
  }
}

// The table contains the readings of the clocks, however long the machine made the spans.
TEST(TimeTable, GroupsAndUnnamedTimeSumToOne) {
  std::vector<PhaseClock> clocks(2);
  Spend(clocks[0], Phase::kEnvStep, 4);
  Spend(clocks[0], Phase::kEnvReset, 2);
  Spend(clocks[0], Phase::kBatchBuild, 1);
  Spend(clocks[0], Phase::kUpdateOptim, 2);
  Spend(clocks[0], Phase::kObsTransfer, 1);
  const auto spent = [&](std::initializer_list<Phase> phases) {
    int64_t ns = 0;
    for (const Phase phase : phases) ns += clocks[0].ns(phase);
    return 1e-9 * static_cast<double>(ns);
  };
  const int64_t wall_ns = clocks[0].total_ns() + 2'000'000;  // 2 ms in no phase
  const auto table = TimeTable(clocks, wall_ns, std::nullopt, {});
  double share = 0;
  for (const auto& [group, row] : table) share += row.share;
  EXPECT_NEAR(share, 1, 1e-9);
  EXPECT_GE(table.at("environment").seconds, 0.006);
  EXPECT_NEAR(table.at("environment").seconds, spent({Phase::kEnvStep, Phase::kEnvReset}), 1e-9);
  EXPECT_NEAR(table.at("update").seconds, spent({Phase::kBatchBuild, Phase::kUpdateOptim}), 1e-9);
  EXPECT_NEAR(table.at("transfer").seconds, spent({Phase::kObsTransfer}), 1e-9);
  EXPECT_NEAR(table.at("unnamed").seconds, 0.002, 1e-9);
  EXPECT_NEAR(table.at("idle").share, 0.5, 1e-9) << "the other thread had no work";
  EXPECT_EQ(table.at("action_selection").seconds, 0);
  EXPECT_GT(table.at("environment").cpu_use.value(), 0.0);
  EXPECT_LE(table.at("environment").cpu_use.value(), 1.01);
  EXPECT_TRUE(std::isnan(table.at("action_selection").cpu_use.value()));
  EXPECT_TRUE(std::isnan(table.at("idle").cpu_use.value()));
}

double Shares(const std::map<std::string, GroupTime>& table) {
  double sum = 0;
  for (const auto& [group, row] : table) sum += row.share;
  return sum;
}

// A sleeping thread is off the core too: only the kernel knows how long it waited for a core.
TEST(TimeTable, WaitingForACoreIsLimitedByTheKernelsTime) {
  std::vector<PhaseClock> clocks(1);
  {
    const PhaseSpan span(clocks[0], Phase::kInfer);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  const double infer_s = 1e-9 * static_cast<double>(clocks[0].ns(Phase::kInfer));
  const auto table = TimeTable(clocks, clocks[0].total_ns(), 3'000'000, {});
  EXPECT_NEAR(table.at("waiting_for_a_core").seconds, 0.003, 1e-9);
  EXPECT_NEAR(table.at("action_selection").seconds, infer_s - 0.003, 1e-9);
  EXPECT_NEAR(Shares(table), 1, 1e-9);
  const auto all = TimeTable(clocks, clocks[0].total_ns(), 3'600'000'000'000, {});
  EXPECT_LE(all.at("waiting_for_a_core").seconds, infer_s) << "the kernel also counts rests";
  EXPECT_FALSE(TimeTable(clocks, clocks[0].total_ns(), std::nullopt, {}).contains("waiting_for_a_core"));
}

void StayOnOneCore() {
  cpu_set_t cores;
  sched_getaffinity(0, sizeof cores, &cores);
  int first = 0;
  while (!CPU_ISSET(first, &cores)) ++first;
  CPU_ZERO(&cores);
  CPU_SET(first, &cores);
  sched_setaffinity(0, sizeof cores, &cores);
}

// Two threads on one core: a group has the CPU time of its work, however busy the machine is.
TEST(TimeTable, GroupExcludesWaitingForACore) {
  constexpr double kWorkS = 0.1;
  std::vector<PhaseClock> clocks(2);
  std::latch done(2), read(1);
  const auto work = [&](size_t i, Phase phase) {
    StayOnOneCore();
    {
      const PhaseSpan span(clocks[i], phase);
      for (const int64_t end = ThreadCpuNs() + static_cast<int64_t>(kWorkS * 1e9); ThreadCpuNs() < end;) {
      }
    }
    done.count_down();
    read.wait();  // the kernel has no times of an ended thread
  };
  const std::jthread steps([&] { work(0, Phase::kEnvStep); }), infers([&] { work(1, Phase::kInfer); });
  done.wait();
  const std::optional<int64_t> queued_ns = RunQueueWaitNs(clocks);
  read.count_down();
  if (!queued_ns) GTEST_SKIP() << "this kernel does not count it";
  const auto table = TimeTable(clocks, std::max(clocks[0].total_ns(), clocks[1].total_ns()), queued_ns, {});
  EXPECT_NEAR(table.at("environment").seconds, kWorkS, 0.1 * kWorkS);
  EXPECT_NEAR(table.at("action_selection").seconds, kWorkS, 0.1 * kWorkS);
  EXPECT_GT(table.at("waiting_for_a_core").seconds, 0.9 * kWorkS);
}

GroupTimes At(int64_t environment, int64_t update) {
  GroupTimes times{};
  times[static_cast<size_t>(PhaseGroup::kEnvironment)] = environment;
  times[static_cast<size_t>(PhaseGroup::kUpdate)] = update;
  return times;
}

TEST(GroupMeans, AValueCountsForTheTimeSinceTheOneBefore) {
  GroupMeans means;
  means.Add(10, At(100, 0));    // all of it environment
  means.Add(90, At(100, 50));   // all of it update
  means.Add(50, At(200, 100));  // two thirds environment
  EXPECT_DOUBLE_EQ(*means.Mean(PhaseGroup::kEnvironment), (100 * 10 + 100 * 50) / 200.0);
  EXPECT_DOUBLE_EQ(*means.Mean(PhaseGroup::kUpdate), (50 * 90 + 50 * 50) / 100.0);
  EXPECT_FALSE(means.Mean(PhaseGroup::kTransfer));
}

TEST(GroupMeans, ARunningSpanCounts) {
  PhaseClock clock;
  clock.Start(Phase::kUpdateBackward);
  std::this_thread::sleep_for(std::chrono::milliseconds(3));
  EXPECT_GE(GroupTimesOf(clock)[static_cast<size_t>(PhaseGroup::kUpdate)], 3'000'000);
  clock.Stop();
}

}  // namespace
}  // namespace backplane
