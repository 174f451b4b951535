#include "trial/budget.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "rollout/clocks.hpp"
#include "trial/trial_count.hpp"

namespace backplane {
namespace {

TEST(Budget, TheFirstLimitReachedEndsTheTrial) {
  BudgetConfig budget;
  budget.iterations = 10;
  budget.env_steps = 1000;
  EXPECT_FALSE(Reached(budget, {9, 999, 1e9}));
  EXPECT_TRUE(Reached(budget, {10, 5, 0}));
  EXPECT_TRUE(Reached(budget, {1, 1000, 0}));
}

TEST(Budget, ProgressIsTheLargestShare) {
  BudgetConfig budget;
  budget.iterations = 10;
  budget.wall_time_s = 100;
  EXPECT_DOUBLE_EQ(Progress(budget, {2, 0, 50}), 0.5);
  EXPECT_DOUBLE_EQ(Progress(budget, {8, 0, 50}), 0.8);
  EXPECT_DOUBLE_EQ(Progress(budget, {8, 0, 500}), 1.0);
}

TEST(Budget, EndsWithTheIterationThatCompletesItsEpisodes) {
  BudgetConfig budget;
  budget.episodes = 50;
  EXPECT_FALSE(Reached(budget, {.iterations = 9, .env_steps = 5000, .episodes = 49}));
  EXPECT_TRUE(Reached(budget, {.iterations = 9, .episodes = 53}));
  EXPECT_DOUBLE_EQ(Progress(budget, {.env_steps = 5000, .episodes = 20}), 0.4);
  EXPECT_DOUBLE_EQ(Limits(budget, {.episodes = 20}, 8, 4).progress, 0.4) << "schedules of learners follow it";
}

TEST(Budget, AKeptScheduleEndsWithItsOwnBudget) {
  BudgetConfig budget, schedule;
  budget.iterations = 5, budget.env_steps = 1000;
  schedule.iterations = 2, schedule.epochs = 1;
  const Spent spent{.iterations = 3, .env_steps = 400};
  bp_limits limits = Limits(budget, spent, 8, 4);
  FollowSchedule(schedule, spent, &limits);
  EXPECT_EQ(limits.progress, 1);
  EXPECT_EQ(limits.iterations, 2u);
  EXPECT_EQ(limits.epochs, 1u);
  EXPECT_EQ(limits.env_steps_left, 600u) << "of the trial's own budget";
  EXPECT_EQ(limits.iterations_done, 3u);
}

TEST(Budget, OmitsTheEpisodesOfTheWarmUp) {
  TrialCount count{.first_warms_up = true};
  EXPECT_EQ(count.SpentOfBudget(1, 0, 7).episodes, 0u);
  count.warm_up = WarmUp{.episodes = 7};
  EXPECT_EQ(count.SpentOfBudget(2, 0, 19).episodes, 12u);
}

TEST(CheckpointDue, FollowsTheFirstIterationAtOrAfterEachMultiple) {
  CheckpointDue due({.every_iterations = 0, .every_episodes = 10});
  std::vector<uint64_t> due_at;
  for (const uint64_t episodes : {0, 4, 9, 10, 14, 29, 30, 30, 61}) {
    if (due.After(1, episodes)) due_at.push_back(episodes);
  }
  EXPECT_EQ(due_at, (std::vector<uint64_t>{10, 29, 30, 61}));
  CheckpointDue resumed({.every_iterations = 0, .every_episodes = 10}, 61);
  EXPECT_FALSE(resumed.After(1, 69)) << "an attempt that resumes at 61 is not due before 70";
  EXPECT_TRUE(resumed.After(1, 70));
}

TEST(CheckpointDue, ServesBothIntervals) {
  CheckpointDue due({.every_iterations = 3, .every_episodes = 10});
  EXPECT_FALSE(due.After(0, 0));
  EXPECT_TRUE(due.After(1, 12));
  EXPECT_FALSE(due.After(2, 13));
  EXPECT_TRUE(due.After(3, 14));
  EXPECT_FALSE(CheckpointDue(CheckpointConfig{}).After(3, 14));
}

TEST(Budget, LimitsContainTheRemainingBudget) {
  BudgetConfig budget;
  budget.env_steps = 1000;
  EXPECT_EQ(Limits(budget, {0, 400, 0}, 8, 4).env_steps_left, 600u);
  EXPECT_EQ(Limits(budget, {0, 1400, 0}, 8, 4).env_steps_left, 0u);
  EXPECT_EQ(Limits(budget, {0, 400, 0}, 8, 4).rows, 8u);
}

TEST(Budget, GrantsTenSecondsOrATenthOfTheWallTimeAtItsEnd) {
  const auto left_s = [](double wall_time_s, double spent_s, Deadline which) {
    BudgetConfig budget;
    budget.wall_time_s = wall_time_s;
    const int64_t now = NowNs();
    return std::round(static_cast<double>(DeadlineOf(budget, {.seconds = spent_s}, which) - now) * 1e-9);
  };
  using enum Deadline;
  EXPECT_EQ(left_s(5, 1, kPatienceAtLeast), 10);
  EXPECT_EQ(left_s(60, 1, kPatienceAtLeast), 59);
  EXPECT_EQ(left_s(3600, 3599, kPatienceAtLeast), 360);
  EXPECT_EQ(left_s(5, 1, kPatienceAfterBudget), 14);
  EXPECT_EQ(left_s(5, 8, kPatienceAfterBudget), 10) << "from now on";
  EXPECT_EQ(left_s(3600, 3590, kPatienceAfterBudget), 370);
  EXPECT_EQ(DeadlineOf({}, {}, kPatienceAtLeast), std::numeric_limits<int64_t>::max());
}

}  // namespace
}  // namespace backplane
