// budget.until: its key, its place in the identity, and the measures that may compare its trials.
#include <gmock/gmock.h>

#include "sweep_fixture.hpp"

namespace backplane {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class GoalOfFile : public SweepTest {
 protected:
  static constexpr char kHead[] = "experiment: a\nenv: {plugin: walker}\nlearner: {plugin: climber}\n";
  static std::string With(const std::string& until, const std::string& more = "") {
    return std::string(kHead) + "evaluation: {episodes: 5, every_iterations: 2}\nbudget: {env_steps: 900, until: " + until +
           "}\n" + more;
  }
  std::vector<std::string> PlanErrorsOf(const std::string& text) {
    std::vector<std::string> errors;
    for (const Diagnostic& d : PlanText(text).errors) errors.push_back(Format(d));
    return errors;
  }

  const std::string goal_ = "{eval/return: 475, for: 3}";
};

TEST_F(GoalOfFile, IsPartOfTheBudget) {
  const LoadedExperiment loaded = Good(With(goal_));
  EXPECT_EQ(loaded.experiment.budget.until, (Goal{"eval/return", 475, 3, 1}));
  const json saved = ToJson(loaded.experiment);
  EXPECT_EQ(saved["budget"]["until"], json({{"eval/return", 475}, {"for", 3}}));
  EXPECT_EQ(ExperimentFromJson(saved).budget.until, loaded.experiment.budget.until);
  EXPECT_FALSE(ToJson(Good(kMinimal).experiment)["budget"].contains("until")) << "older files stay as they are";
  EXPECT_EQ(Good(With(goal_), {"budget.until.for=5"}).experiment.budget.until->in_a_row, 5u);
}

TEST_F(GoalOfFile, MakesOtherTrials) {
  const auto id = [&](const std::string& text) { return Ids(*PlanText(text).plan).front(); };
  EXPECT_NE(id(With(goal_)), id(With("{eval/return: 480, for: 3}")));
  EXPECT_NE(id(With(goal_)), id(With("null")));
}

TEST_F(GoalOfFile, NeedsEvaluationsDuringTheTrialAndALimit) {
  EXPECT_THAT(
      ErrorsOf(std::string(kHead) + "budget: {until: {eval/return: 475}}\nevaluation: {episodes: 5, every_iterations: 2}\n"),
      ElementsAre(HasSubstr("budget: expected at least one limit of iterations, env_steps")));
  EXPECT_THAT(ErrorsOf(std::string(kHead) + "budget: {iterations: 3, until: {eval/return: 475}}\n"),
              ElementsAre(HasSubstr("4:25 budget.until: expected evaluations during the trial, got evaluation.episodes: 0")));
  EXPECT_THAT(ErrorsOf(std::string(kHead) + "budget: {iterations: 3, until: {eval/return: 475}}\nevaluation: {episodes: 5}\n"),
              ElementsAre(HasSubstr("got evaluation.every_iterations: 0")));
  EXPECT_THAT(ErrorsOf(With("{return: 475}")),
              ElementsAre(HasSubstr("budget.until: expected a metric of evaluations, eval/NAME, got 'return'")));
  EXPECT_THAT(ErrorsOf(With("{eval/return: .inf}")), ElementsAre(HasSubstr("expected a finite number for eval/return, got")));
  EXPECT_THAT(ErrorsOf(With("475")), ElementsAre(HasSubstr("budget.until: expected a metric with its value, such as")));
  EXPECT_THAT(ErrorsOf("experiment: a\nlearner: {command: [run]}\nbudget: {until: {eval/return: 475}}\n"),
              ElementsAre(HasSubstr("budget.until: a command evaluates itself and ends itself")));
}

TEST_F(GoalOfFile, RejectsOtherMeasuresOfComparisonsWithTheirPlaces) {
  const std::string arms = "compare:\n  arms: [{name: a}, {name: b, learner.options.lr: 0.01}]\n";
  EXPECT_THAT(PlanErrorsOf(With(goal_, arms)), IsEmpty()) << "steps_to is the default";
  EXPECT_THAT(PlanErrorsOf(With(goal_, arms + "  metric: steps_to(eval/return, 475)\n")), IsEmpty());
  EXPECT_THAT(
      PlanErrorsOf(With(goal_, arms + "  metric: eval/return\n")),
      ElementsAre(testing::AllOf(
          HasSubstr(
              "e.yaml:8:3: error: compare.metric: expected steps_to(eval/return, 475), got eval/return: trials end when "),
          HasSubstr("hint: metric: steps_to(eval/return, 475)"))));
  const std::string sweep = "sweep: {grid: {learner.options.lr: [0.1, 0.2]}}\n";
  EXPECT_THAT(PlanErrorsOf(With(goal_, sweep + "report: {kind: comparison, select: {metric: eval/return}}\n")),
              ElementsAre(HasSubstr("report.select.metric: expected steps_to(eval/return, 475)")));
  EXPECT_THAT(
      PlanErrorsOf(With(goal_, sweep + "report: {kind: comparison, select: {metric: \"steps_to(eval/return, 400)\"}}\n")),
      IsEmpty());
}

TEST_F(GoalOfFile, RejectsOtherObjectivesAndPruners) {
  const auto search = [&](const std::string& metric, const std::string& more) {
    return "sweep:\n  search: {trials: 4, objective: {metric: \"" + metric + "\"}, space: {env.options.legs: {int: [2, 8]}}" +
           more + "}\n";
  };
  EXPECT_THAT(PlanErrorsOf(With(goal_, search("steps_to(eval/return, 475)", ""))), IsEmpty());
  EXPECT_THAT(PlanErrorsOf(With(goal_, search("eval/return", ""))),
              ElementsAre(HasSubstr("e.yaml:7:43: error: sweep.search.objective.metric: expected steps_to(eval/return, 475)")));
  EXPECT_THAT(PlanErrorsOf(With("null", search("steps_to(eval/return, 475)", ", pruner: median"))),
              ElementsAre(HasSubstr(
                  "sweep.search.pruner: expected none for steps_to(eval/return, 475), which is unknown while a trial runs")));
}

}  // namespace
}  // namespace backplane
