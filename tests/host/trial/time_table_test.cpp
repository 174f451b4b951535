#include "trial/time_table.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <initializer_list>
#include <thread>

namespace backplane {
namespace {

void Spend(PhaseClock& clock, Phase phase, int ms) {
  const PhaseSpan span(clock, phase);
  for (const int64_t end = NowNs() + ms * 1'000'000; NowNs() < end;) {
  }
}

// However long the machine made the spans: the table is of what the clocks read.
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
  const nlohmann::json table = TimeTable(clocks, wall_ns, {});
  double share = 0;
  for (const auto& [group, row] : table.items()) share += row["share"].get<double>();
  EXPECT_NEAR(share, 1, 1e-9);
  EXPECT_GE(table["environment"]["seconds"], 0.006);
  EXPECT_NEAR(table["environment"]["seconds"], spent({Phase::kEnvStep, Phase::kEnvReset}), 1e-9);
  EXPECT_NEAR(table["update"]["seconds"], spent({Phase::kBatchBuild, Phase::kUpdateOptim}), 1e-9);
  EXPECT_NEAR(table["transfer"]["seconds"], spent({Phase::kObsTransfer}), 1e-9);
  EXPECT_NEAR(table["unnamed"]["seconds"], 0.002, 1e-9);
  EXPECT_NEAR(table["idle"]["share"], 0.5, 1e-9) << "the other thread had no work";
  EXPECT_EQ(table["action_selection"]["seconds"], 0);
  EXPECT_GT(table["environment"]["cpu_use"], 0.0);
  EXPECT_LE(table["environment"]["cpu_use"], 1.01);
  EXPECT_TRUE(table["action_selection"]["cpu_use"].is_null());
  EXPECT_TRUE(table["idle"]["cpu_use"].is_null());
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
