#include "batch/schedule.hpp"

#include <gtest/gtest.h>

namespace backplane {
namespace {

// One trial per point, each with one value of "size" and one of "other".
Plan PlanOf(const std::vector<std::pair<double, std::string>>& values, unsigned seeds = 1) {
  Plan plan;
  plan.memory_axes = {"size"};
  for (const auto& [size, other] : values) {
    PlannedPoint point;
    point.values = {{"size", size}, {"other", other}};
    for (unsigned seed = 0; seed < seeds; ++seed) {
      PlannedTrial trial;
      trial.id = std::to_string(plan.trials.size());
      trial.point = plan.points.size();
      trial.seed = seed;
      plan.trials.push_back(trial);
    }
    plan.points.push_back(point);
  }
  return plan;
}

// Runs the scheduled trials one at a time; a trial fits if its size is at most `limit`. Returns the sizes that ran.
std::vector<double> Walk(const Plan& plan, Schedule* schedule, double limit) {
  std::vector<double> ran;
  while (const auto trial = schedule->Next(0)) {
    const double size = plan.points[plan.trials[*trial].point].values[0].second;
    ran.push_back(size);
    schedule->Set(*trial, size <= limit ? TrialState::kCompleted : TrialState::kInfeasible);
    if (size <= limit) continue;
    for (const size_t other : schedule->NeedAsMuchAs(*trial)) schedule->Set(other, TrialState::kInfeasible);
  }
  return ran;
}

TEST(Schedule, FollowsThePlansOrder) {
  Plan plan = PlanOf({{3, "a"}, {1, "a"}, {2, "a"}});
  plan.memory_axes.clear();
  Schedule schedule(plan);
  EXPECT_EQ(Walk(plan, &schedule, 100), (std::vector<double>{3, 1, 2}));
}

TEST(Schedule, AChainRunsOutOfMemoryOnce) {
  const Plan plan = PlanOf({{1, "a"}, {2, "a"}, {4, "a"}, {8, "a"}, {16, "a"}, {32, "a"}, {64, "a"}});
  Schedule schedule(plan);
  EXPECT_EQ(Walk(plan, &schedule, 16), (std::vector<double>{1, 2, 4, 8, 16, 32}));
  EXPECT_EQ(schedule.state(6), TrialState::kInfeasible);
}

TEST(Schedule, RunsAChainUpwardsInAnyOrder) {
  const Plan plan = PlanOf({{64, "a"}, {32, "a"}, {16, "a"}, {64, "b"}});
  Schedule schedule(plan);
  EXPECT_EQ(Walk(plan, &schedule, 16), (std::vector<double>{16, 32, 64})) << "64 of b is a different chain";
}

// An earlier session ended before it marked the larger trials.
TEST(Schedule, MarksLargerTrialsOutOfMemory) {
  const Plan plan = PlanOf({{64, "a"}, {16, "a"}, {32, "a"}, {64, "b"}});
  Schedule schedule(plan);
  EXPECT_TRUE(schedule.OutOfMemoryToo().empty());
  schedule.Set(2, TrialState::kInfeasible);
  EXPECT_EQ(schedule.OutOfMemoryToo(), (std::map<size_t, size_t>{{0, 2}}));
  schedule.Set(0, TrialState::kInfeasible);
  EXPECT_TRUE(schedule.OutOfMemoryToo().empty()) << "none of them is planned";
}

TEST(Schedule, MarksOtherSeedsOutOfMemory) {
  const Plan plan = PlanOf({{32, "a"}}, /*seeds=*/3);
  Schedule schedule(plan);
  EXPECT_EQ(Walk(plan, &schedule, 16).size(), 1u);
  for (size_t trial = 0; trial < 3; ++trial) EXPECT_EQ(schedule.state(trial), TrialState::kInfeasible) << trial;
}

TEST(Schedule, ALargerTrialWaitsForASmallerOneThatRuns) {
  const Plan plan = PlanOf({{1, "a"}, {2, "a"}});
  Schedule schedule(plan);
  schedule.Set(*schedule.Next(0), TrialState::kRunning);
  EXPECT_FALSE(schedule.Next(0));
  EXPECT_EQ(schedule.waiting(), 1u);
}

TEST(Schedule, ADelayedTrialLetsTheNextOneGoFirst) {
  const Plan plan = PlanOf({{1, "a"}, {1, "b"}});
  Schedule schedule(plan);
  schedule.Delay(0, 5);
  EXPECT_EQ(schedule.Next(4), 1u);
  EXPECT_EQ(schedule.Next(5), 0u);
}

TEST(Schedule, OmittedTrialStaysPlanned) {
  const Plan plan = PlanOf({{1, "a"}, {1, "b"}});
  Schedule schedule(plan);
  schedule.Leave(0);
  EXPECT_EQ(schedule.Next(0), 1u);
  EXPECT_EQ(schedule.waiting(), 1u);
  EXPECT_EQ(schedule.state(0), TrialState::kPlanned);
}

// "0 <- 1 <- 2", "3 <- 4": chains of stages.
Plan Chains() {
  Plan plan = PlanOf({{1, "a"}, {1, "b"}, {1, "c"}, {1, "d"}, {1, "e"}});
  plan.memory_axes.clear();
  plan.trials[1].after = 0;
  plan.trials[2].after = 1;
  plan.trials[4].after = 3;
  return plan;
}

TEST(Schedule, APhaseWaitsForTheOneBeforeAndOtherChainsPassIt) {
  const Plan plan = Chains();
  Schedule schedule(plan);
  EXPECT_EQ(schedule.Next(0), 0u);
  schedule.Set(0, TrialState::kRunning);
  EXPECT_EQ(schedule.Next(0), 3u);
  schedule.Set(3, TrialState::kRunning);
  EXPECT_EQ(schedule.Next(0), std::nullopt);
  EXPECT_EQ(schedule.waiting(), 3u);
  schedule.Set(0, TrialState::kCompleted);
  EXPECT_EQ(schedule.Next(0), 1u);
}

TEST(Schedule, SkipsStagesAfterAnIncompleteTrial) {
  const Plan plan = Chains();
  for (const TrialState end : {TrialState::kFailed, TrialState::kInfeasible, TrialState::kSkipped, TrialState::kPruned}) {
    Schedule schedule(plan);
    EXPECT_EQ(schedule.NeverCan(), std::vector<size_t>());
    schedule.Set(0, end);
    EXPECT_EQ(schedule.NeverCan(), (std::vector<size_t>{1, 2})) << Word(end);
    EXPECT_TRUE(schedule.LostItsStart(1)) << Word(end);
    EXPECT_FALSE(schedule.LostItsStart(2)) << Word(end) << ": not yet";
    EXPECT_EQ(schedule.Next(0), 3u);
  }
}

TEST(Schedule, LeavesStagesAfterATrialThatIsLeft) {
  const Plan plan = Chains();
  Schedule schedule(plan);
  schedule.Leave(0);
  EXPECT_EQ(schedule.waiting(), 2u);
  EXPECT_EQ(schedule.Next(0), 3u);
}

}  // namespace
}  // namespace backplane
