#include "batch/unreached_limit.hpp"

#include <gmock/gmock.h>

namespace backplane {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Notes = std::vector<std::string>;

const std::map<std::string, std::string> kOrigin = {
    {"budget.env_steps", "walk.yaml:5:12"}, {"budget.iterations", "walk.yaml:6:3"}, {"budget.epochs", "walk.yaml:7:3"}};

constexpr IterationSize Rollout(uint64_t steps) { return {steps, steps, 0, 0}; }

Notes NotesOf(std::optional<uint64_t> iterations, std::optional<uint64_t> env_steps, const IterationSize& size,
              std::optional<uint64_t> epochs = {}) {
  BudgetConfig budget;
  budget.iterations = iterations, budget.env_steps = env_steps, budget.epochs = epochs;
  return UnreachedLimits(budget, kOrigin, size);
}

TEST(UnreachedLimits, AreNamedWithTheirPlace) {
  EXPECT_THAT(NotesOf(5, 1000000, Rollout(4096)),
              ElementsAre("walk.yaml:5:12 budget.env_steps: 1,000,000 cannot be reached, because budget.iterations ends the "
                          "trial after 5 iterations of 4,096 steps"));
  // 3 x 4,096 = 12,288
  EXPECT_THAT(NotesOf(100, 12288, Rollout(4096)),
              ElementsAre("walk.yaml:6:3 budget.iterations: 100 cannot be reached, because budget.env_steps ends the trial in "
                          "iteration 3; an iteration has 4,096 steps"));
  EXPECT_THAT(NotesOf(3, 12289, Rollout(4096)), ElementsAre(HasSubstr("budget.env_steps: 12,289")));
}

TEST(UnreachedLimits, AreNoneIfBothEndInTheSameIteration) {
  EXPECT_THAT(NotesOf(3, 12288, Rollout(4096)), IsEmpty());
  EXPECT_THAT(NotesOf(3, 8193, Rollout(4096)), IsEmpty());
}

TEST(UnreachedLimits, NeedTwoLimitsAndTheSizeOfAnIteration) {
  EXPECT_THAT(NotesOf(5, 1000000, IterationSize{}), IsEmpty());
  EXPECT_THAT(NotesOf(5, {}, Rollout(4096)), IsEmpty());
  EXPECT_THAT(NotesOf(5, {}, Rollout(4096), 3), IsEmpty()) << "without a data set it is rejected elsewhere";
}

// 100 items in groups of 32: three full groups and one of 4.
TEST(UnreachedLimits, CountEpochsOfADataSet) {
  constexpr IterationSize kData = {32, 32, 4, 100};
  EXPECT_THAT(NotesOf(9, {}, kData, 2), ElementsAre("walk.yaml:6:3 budget.iterations: 9 cannot be reached, because "
                                                    "budget.epochs ends the trial in iteration 8; an epoch has 4 iterations"));
  EXPECT_THAT(NotesOf(7, {}, kData, 2),
              ElementsAre("walk.yaml:7:3 budget.epochs: 2 cannot be reached, because budget.iterations ends the trial after 7 "
                          "iterations; an epoch has 4 iterations"));
  EXPECT_THAT(NotesOf(8, {}, kData, 2), IsEmpty());
  // 128 steps are an epoch and 28 items, not four groups.
  EXPECT_THAT(NotesOf(5, 128, kData), IsEmpty());
  EXPECT_THAT(NotesOf({}, 128, kData, 1),
              ElementsAre(HasSubstr("budget.env_steps: 128 cannot be reached, because budget.epochs")));
  EXPECT_THAT(NotesOf({}, 100, kData, 1), IsEmpty());
  EXPECT_THAT(NotesOf(1, 300, kData, 3), ElementsAre(HasSubstr("budget.env_steps: 300"), HasSubstr("budget.epochs: 3")));
}

// The length of an episode is unknown: at least one step, and at most the learner's limit.
TEST(UnreachedLimits, HoldForCandidatesWithEpisodesOfAnyLength) {
  constexpr IterationSize kOpen = {120, 0, 0, 0}, kBounded = {120, 12000, 0, 0};
  EXPECT_THAT(NotesOf(1000, 12000, kOpen),
              ElementsAre("walk.yaml:6:3 budget.iterations: 1,000 cannot be reached, because budget.env_steps ends the trial "
                          "at the latest in iteration 100; an iteration has at least 120 steps"));
  EXPECT_THAT(NotesOf(100, 12000, kOpen), IsEmpty());
  EXPECT_THAT(NotesOf(10, 1000000, kOpen), IsEmpty());
  EXPECT_THAT(NotesOf(10, 1000000, kBounded),
              ElementsAre("walk.yaml:5:12 budget.env_steps: 1,000,000 cannot be reached, because budget.iterations ends the "
                          "trial after 10 iterations of at most 12,000 steps"));
  EXPECT_THAT(NotesOf(10, 120000, kBounded), IsEmpty());
}

}  // namespace
}  // namespace backplane
