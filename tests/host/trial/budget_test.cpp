#include "trial/budget.hpp"

#include <gtest/gtest.h>

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

TEST(Budget, LimitsSayWhatIsLeft) {
  BudgetConfig budget;
  budget.env_steps = 1000;
  EXPECT_EQ(Limits(budget, {0, 400, 0}, 8, 4).env_steps_left, 600u);
  EXPECT_EQ(Limits(budget, {0, 1400, 0}, 8, 4).env_steps_left, 0u);
  EXPECT_EQ(Limits(budget, {0, 400, 0}, 8, 4).rows, 8u);
}

}  // namespace
}  // namespace backplane
