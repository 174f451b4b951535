// The goal of a trial: its form in a file, its measures, and when it is reached.
#include "record/goal.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace backplane {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::string WhyNot(const json& written) {
  std::string why_not;
  EXPECT_FALSE(GoalFromJson(written, &why_not));
  return why_not;
}

TEST(Goal, ReadsTheFormOfAFile) {
  std::string why_not;
  const json written = {{"eval/return", 475}, {"for", 3}};
  const auto goal = GoalFromJson(written, &why_not);
  ASSERT_TRUE(goal) << why_not;
  EXPECT_EQ(*goal, (Goal{"eval/return", 475, 3, 1}));
  EXPECT_EQ(JsonOfGoal(*goal), written);
  EXPECT_EQ(JsonOfGoal(*GoalFromJson({{"eval/loss", 0.5}}, &why_not)), json({{"eval/loss", 0.5}, {"for", 1}}));
  EXPECT_EQ(GoalFromJson({{"eval/loss", 0.5}}, &why_not)->direction, -1) << "a loss is better if it is lower";
  EXPECT_EQ(GoalFromJson({{"eval/x", 1}, {"direction", "minimize"}}, &why_not)->direction, -1);
}

TEST(Goal, NamesTheExpectedAndTheFoundValue) {
  EXPECT_EQ(WhyNot(3), "expected a metric with its value, such as {eval/return: 475, for: 3}, got 3");
  EXPECT_EQ(WhyNot({{"for", 3}}), "expected a metric with its value, such as eval/return: 475, got {\"for\":3}");
  EXPECT_EQ(WhyNot({{"eval/return", "high"}}), "expected a finite number for eval/return, got \"high\"");
  EXPECT_EQ(WhyNot({{"eval/return", INFINITY}}), "expected a finite number for eval/return, got null");
  EXPECT_EQ(WhyNot({{"eval/return", 1}, {"for", 0}}), "expected 1 or more evaluations in a row as 'for', got 0");
  EXPECT_EQ(WhyNot({{"eval/return", 1}, {"for", 1.5}}), "expected 1 or more evaluations in a row as 'for', got 1.5");
  EXPECT_THAT(WhyNot({{"eval/length", 1}, {"eval/return", 1}}), HasSubstr("expected one metric, got "));
  EXPECT_THAT(WhyNot({{"eval/x", 1}, {"direction", "up"}}), HasSubstr("maximize or minimize, got \"up\""));
}

TEST(Goal, ItsMeasuresNameIt) {
  const Goal goal{"eval/return", 0.25, 3, 1};
  EXPECT_EQ(goal.StepsMeasure(), "steps_to(eval/return, 0.25)");
  EXPECT_EQ(GoalOfMeasure(goal.StepsMeasure()), (Goal{"eval/return", 0.25, 1, 1}));
  EXPECT_EQ(GoalOfMeasure("reached(eval/loss, -1e-3)"), (Goal{"eval/loss", -0.001, 1, -1}));
  for (const char* other : {"eval/return", "steps_to(eval/return)", "steps_to(, 3)", "steps_to(eval/return, x)",
                            "steps_to(eval/return, 3) + 1", "min(eval/return, 3)"})
    EXPECT_FALSE(GoalOfMeasure(other)) << other;
}

TEST(Goal, OnlyStepsToItOrToANearerOneCompareTrialsThatEndThere) {
  const Goal until{"eval/return", 475, 3, 1};
  EXPECT_EQ(WhyNotComparable(until, "steps_to(eval/return, 475)"), "");
  EXPECT_EQ(WhyNotComparable(until, "steps_to(eval/return, 100)"), "");
  EXPECT_EQ(
      WhyNotComparable(until, "eval/return"),
      "expected steps_to(eval/return, 475), got eval/return: trials end when they reach eval/return 475 (budget.until), so "
      "last values are biased");
  EXPECT_THAT(WhyNotComparable(until, "steps_to(eval/return, 480)"), HasSubstr("the time to a harder goal is unknown"));
  EXPECT_THAT(WhyNotComparable(until, "steps_to(eval/length, 3)"), HasSubstr("biased"));
  EXPECT_THAT(WhyNotComparable(until, "SPS"), HasSubstr("biased"));
  EXPECT_EQ(WhyNotComparable({"eval/loss", 0.5, 1, -1}, "steps_to(eval/loss, 0.9)"), "") << "a higher loss is nearer";
}

TEST(Goal, IsReachedByEvaluationsInARow) {
  GoalCount count({"eval/return", 10, 3, 1});
  for (const double value : {10.0, 12.0, 9.0, 10.0, 11.0, std::nan(""), 10.0, 10.0}) EXPECT_FALSE(count.Add(value)) << value;
  EXPECT_TRUE(count.Add(10));
  EXPECT_TRUE(count.Add(0)) << "it stays reached";
  GoalCount down({"eval/loss", 1, 1, -1});
  EXPECT_FALSE(down.Add(1.01));
  EXPECT_TRUE(down.Add(1));
}

TEST(Goal, ItsResultIsASentence) {
  GoalResult result{{"eval/return", 475, 3, 1}, true, 41, 41'000};
  EXPECT_EQ(result.Sentence(), "reached eval/return 475 after 41,000 env steps (3 evaluations in a row)");
  result.reached = false;
  EXPECT_EQ(result.Sentence(), "never reached eval/return 475 in 41,000 env steps");
  EXPECT_EQ(ToJson(result), json({{"metric", "eval/return"},
                                  {"value", 475.0},
                                  {"for", 3},
                                  {"direction", 1},
                                  {"reached", false},
                                  {"iteration", 41},
                                  {"env_steps", 41'000}}));
}

}  // namespace
}  // namespace backplane
