#include "trial/goal_tracker.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

namespace backplane {
namespace {

class GoalTrackerTest : public testing::Test {
 protected:
  GoalTrackerTest() : trial_{std::filesystem::path(testing::TempDir()) / ("goal_" + std::to_string(getpid()))} {
    std::filesystem::remove_all(trial_.folder);
  }
  ~GoalTrackerTest() override { std::filesystem::remove_all(trial_.folder); }

  // Adds an evaluation after each of the next iterations, until the goal is reached.
  static void Evaluate(GoalTracker* tracker, TrialCount* count, const std::vector<double>& returns) {
    for (const double one : returns) {
      count->env_steps = 100 * ++count->iterations;
      tracker->Add({Spread{.mean = one, .sd = {}, .se = {}, .n = 5}, {}}, *count);
    }
  }
  // Lines of an attempt that evaluated its iterations; NaN: it did not.
  MetricsPart Write(unsigned attempt, uint64_t first, const std::vector<double>& returns, uint64_t valid) {
    std::filesystem::create_directories(trial_.attempt(attempt).folder);
    std::ofstream file(trial_.attempt(attempt).metrics());
    for (const double one : returns) {
      file << R"({"iteration":)" << first << R"(,"step":)" << 100 * first;
      if (!std::isnan(one)) file << R"(,"eval":{"return":{"mean":)" << one << R"(,"n":5},"metrics":{}})";
      file << "}\n";
      ++first;
    }
    return {.attempt = attempt, .lines = valid};
  }

  const TrialFolder trial_;
  const std::optional<Goal> goal_ = Goal{"eval/return", 10, 3, 1};
  TrialCount count_;
};

TEST_F(GoalTrackerTest, KeepsTheFirstMoment) {
  GoalTracker tracker(goal_);
  Evaluate(&tracker, &count_, {10, 10, 9, 10, 11});
  EXPECT_FALSE(tracker.reached());
  EXPECT_FALSE(tracker.Result(count_)->reached);
  EXPECT_EQ(tracker.Result(count_)->env_steps, 500u) << "so far";
  Evaluate(&tracker, &count_, {12, 0, 0});
  ASSERT_TRUE(tracker.reached());
  EXPECT_EQ(tracker.Result(count_)->iteration, 6u);
  EXPECT_EQ(tracker.Result(count_)->env_steps, 600u);
}

TEST_F(GoalTrackerTest, CountsTheEvaluationsOfEarlierAttempts) {
  const double none = std::nan("");
  // The first attempt was killed after a checkpoint behind its fourth line; the second repeated the rest.
  const MetricsRecord before{std::vector{Write(1, 1, {10, none, 2, 11, 99, 99}, 4), Write(2, 5, {none, 12}, 2)}};
  GoalTracker tracker(goal_);
  tracker.GoOnFrom(trial_, before);
  EXPECT_FALSE(tracker.reached()) << "11 and 12 are two in a row";
  count_.iterations = 6;
  Evaluate(&tracker, &count_, {10});
  EXPECT_TRUE(tracker.reached());
  EXPECT_EQ(tracker.Result(count_)->iteration, 7u);
}

TEST_F(GoalTrackerTest, StaysReachedAfterAResume) {
  const MetricsRecord before{std::vector{Write(1, 1, {10, 10, 10, 3}, 4)}};
  GoalTracker tracker(goal_);
  tracker.GoOnFrom(trial_, before);
  EXPECT_TRUE(tracker.reached());
  EXPECT_EQ(tracker.Result(count_)->env_steps, 300u);
}

TEST_F(GoalTrackerTest, HasNothingToDoWithoutAGoal) {
  GoalTracker tracker(std::nullopt);
  Evaluate(&tracker, &count_, {1000, 1000, 1000});
  EXPECT_FALSE(tracker.reached());
  EXPECT_FALSE(tracker.Result(count_));
}

}  // namespace
}  // namespace backplane
