#include "trial/budget.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "rollout/clocks.hpp"

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
