#include "supervise/unreached_limit.hpp"

#include <gtest/gtest.h>

namespace backplane {
namespace {

const std::map<std::string, std::string> kOrigin = {{"budget.env_steps", "walk.yaml:5:12"},
                                                    {"budget.iterations", "walk.yaml:6:3"}};

std::string NoteOf(uint64_t iterations, uint64_t env_steps, uint64_t steps_of_iteration) {
  BudgetConfig budget;
  budget.iterations = iterations, budget.env_steps = env_steps;
  return UnreachedLimit(budget, kOrigin, steps_of_iteration);
}

TEST(UnreachedLimit, IsNamedWithItsPlace) {
  EXPECT_EQ(
      "walk.yaml:5:12 budget.env_steps: 1,000,000 are never reached: budget.iterations ends the trial after 5 of 4,096 steps",
      NoteOf(5, 1000000, 4096));
  // 3 x 4,096 = 12,288
  EXPECT_EQ(
      "walk.yaml:6:3 budget.iterations: 100 are never reached: budget.env_steps ends the trial in iteration 3, each has 4,096 "
      "steps",
      NoteOf(100, 12288, 4096));
  EXPECT_NE("", NoteOf(3, 12289, 4096));
}

TEST(UnreachedLimit, IsNoneWhereBothEndTheSameIteration) {
  EXPECT_EQ("", NoteOf(3, 12288, 4096));
  EXPECT_EQ("", NoteOf(3, 8193, 4096));
}

TEST(UnreachedLimit, NeedsTwoLimitsAndTheSteps) {
  EXPECT_EQ("", NoteOf(5, 1000000, 0));
  BudgetConfig budget;
  budget.iterations = 5;
  EXPECT_EQ("", UnreachedLimit(budget, kOrigin, 4096));
}

}  // namespace
}  // namespace backplane
