// A plan that grows with the suggestions of a search.
#include <gmock/gmock.h>

#include "sweep_fixture.hpp"

namespace backplane {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class SearchTest : public SweepTest {
 protected:
  // `space` and more keys of the search, followed by lines of the sweep.
  static std::string Search(const std::string& space, const std::string& more = "", const std::string& beside = "") {
    return "sweep:\n  search: {trials: 4, objective: {metric: eval/return}, space: {" + space + "}" + more + "}\n" + beside;
  }
  static const json& ValueOf(const Plan& plan, size_t point) { return plan.points[point].values.front().second; }
};

TEST_F(SearchTest, EachSuggestionAddsAPoint) {
  Plan plan = GoodPlan(Search("env.options.legs: {int: [2, 8]}"));
  EXPECT_THAT(plan.points, IsEmpty());
  const Suggested first = plan.Suggest(0, {{"env.options.legs", 3}}), second = plan.Suggest(1, {{"env.options.legs", 5}});
  ASSERT_TRUE(first.point && second.point);
  EXPECT_TRUE(first.is_new && second.is_new);
  ASSERT_EQ(plan.trials.size(), 2u);
  EXPECT_EQ(ValueOf(plan, *second.point), 5);
  EXPECT_EQ(plan.Load(plan.trials[1]).experiment.env.options["legs"], 5);
  EXPECT_EQ(plan.points[*second.point].number, 1u);
  EXPECT_EQ(plan.search_space, json({{"env.options.legs", {{"int", {2, 8}}}}}));
}

// Equal settings have equal ids, whether suggested or written by hand.
TEST_F(SearchTest, SuggestionEqualsThePointWrittenByHand) {
  schema_ = 2;  // later, the budget belongs to a suggestion, whose objective it decides
  Plan plan = GoodPlan(Search("env.options.legs: {int: [2, 8]}, learner: {choice: [{plugin: climber}, {plugin: hopper}]}"));
  plan.Suggest(0, {{"env.options.legs", 3}, {"learner", {{"plugin", "hopper"}}}});
  const Plan by_hand = GoodPlan("sweep: {list: [{env.options.legs: 3, learner: {plugin: hopper}}]}\n");
  EXPECT_EQ(Ids(plan), Ids(by_hand));
}

TEST_F(SearchTest, ChoicesThatACommandGetsAsDifferentTextsAreDifferent) {
  PlanResult result = PlanText("experiment: first\nlearner: {command: [echo, \"{x}\"], options: {x: 1}}\n" +
                               Search("learner.options.x: {choice: [1.1, 1.10, 2]}"));
  for (const Diagnostic& d : result.errors) ADD_FAILURE() << Format(d);
  ASSERT_TRUE(result.plan);
  EXPECT_EQ(result.plan->search_space, json({{"learner.options.x", {{"choice", {1.1, "1.10", 2}}}}}));
  result.plan->Suggest(0, {{"learner.options.x", 1.1}});
  result.plan->Suggest(1, {{"learner.options.x", "1.10"}});
  EXPECT_THAT(Names(*result.plan), ElementsAre("x=1.1", "x=1.10"));
}

TEST_F(SearchTest, RepeatedSuggestionIsTheSamePoint) {
  Plan plan = GoodPlan(Search("env.options.legs: {int: [2, 8]}"));
  const Suggested first = plan.Suggest(0, {{"env.options.legs", 3}}), again = plan.Suggest(1, {{"env.options.legs", 3}});
  EXPECT_EQ(first.point, again.point);
  EXPECT_FALSE(again.is_new);
  EXPECT_EQ(plan.trials.size(), 1u);
  EXPECT_EQ(plan.points.front().number, 0u);
}

TEST_F(SearchTest, RulesHoldForSuggestions) {
  Plan plan = GoodPlan(Search("learner.options.micro: {int: [1, 16]}", "",
                              "  derive: {learner.options.accum: \"16 / learner.options.micro\"}\n"
                              "  where: [\"learner.options.micro < 16\"]\n"));
  const Suggested fits = plan.Suggest(0, {{"learner.options.micro", 4}});
  ASSERT_TRUE(fits.point);
  EXPECT_EQ(plan.Load(plan.trials.back()).experiment.learner.options["accum"], 4);
  EXPECT_EQ(plan.Suggest(1, {{"learner.options.micro", 16}}).why, "where #1");
  EXPECT_THAT(plan.Suggest(2, {{"learner.options.micro", 3}}).why, HasSubstr("16 / 3 is no integer"));
  EXPECT_EQ(plan.trials.size(), 1u);
  EXPECT_EQ(plan.dropped.size(), 2u);
}

TEST_F(SearchTest, ConfirmsWithSeedsThatWereNotSearched) {
  Plan plan = GoodPlan(Search("env.options.legs: {int: [2, 8]}", "", "  seeds: {n: 2, first: 10}\n"));
  const Suggested one = plan.Suggest(0, {{"env.options.legs", 3}});
  plan.Confirm(*one.point, 3);
  EXPECT_THAT(SeedsOf(plan), ElementsAre(10, 11, 12, 13, 14));
  EXPECT_FALSE(plan.trials[1].confirms);
  EXPECT_TRUE(plan.trials[2].confirms);
  std::vector<std::string> ids = Ids(plan);
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(std::unique(ids.begin(), ids.end()), ids.end());
}

// Optuna computes 3 * 0.1 without rounding.
TEST_F(SearchTest, ASuggestionWithAStepIsThePointOfAGrid) {
  schema_ = 2;
  Plan plan = GoodPlan(Search("learner.options.lr: {uniform: [0.1, 1], step: 0.1}"));
  plan.Suggest(0, {{"learner.options.lr", 3 * 0.1}});
  EXPECT_EQ(ValueOf(plan, 0), 0.3);
  EXPECT_EQ(Ids(plan), Ids(GoodPlan("sweep: {grid: {learner.options.lr: {range: [0.3, 0.3, 0.1]}}}\n")));
}

// Probes check the plugins before the first suggestion: the middle of each range, and each choice.
TEST_F(SearchTest, ProbesHaveEachChoiceOnce) {
  const Plan plan = GoodPlan(
      Search("env.options.legs: {int: [2, 8]}, learner: {choice: [{plugin: climber}, {plugin: hopper}, {plugin: climber, "
             "options: {micro: 2}}]}"));
  std::vector<std::string> learners;
  for (const PlannedTrial& trial : plan.Checked().trials)
    learners.push_back(plan.Checked().Load(trial).experiment.learner.plugin);
  EXPECT_THAT(learners, UnorderedElementsAre("climber", "hopper", "climber"));
}

TEST_F(SearchTest, ErrorsHavePlaces) {
  EXPECT_THAT(
      PlanErrors("sweep: {search: {method: tpe}}\n"),
      ElementsAre(HasSubstr("5:9 sweep.search: missing key 'trials'"), HasSubstr("5:9 sweep.search: missing key 'space'"),
                  HasSubstr("5:9 sweep.search: missing key 'objective'")));
  EXPECT_THAT(PlanErrors(Search("env.options.legs: {int: [2, 8]}", ", method: bayes")),
              ElementsAre(HasSubstr("sweep.search.method")));
  EXPECT_THAT(PlanErrors(Search("env.options.leg: {int: [2, 8]}")), ElementsAre(HasSubstr("did you mean")));
  // The ends of a range are checked before anything runs.
  EXPECT_THAT(PlanErrors(Search("learner.options.micro: {int: [-3, 9]}")), ElementsAre(HasSubstr("6:")));
  EXPECT_THAT(PlanErrors(Search("env.options.legs: {int: [2, 8]}", "", "  grid: {learner.options.micro: [1, 2]}\n")),
              ElementsAre(HasSubstr("7:3 sweep.grid cannot be combined with sweep.search")));
  EXPECT_THAT(PlanErrors(Search("env.options.legs: {int: [2, 8]}"), {"learner.options.micro=1,2"}),
              ElementsAre(HasSubstr("cannot be swept together with sweep.search")));
  EXPECT_THAT(PlanErrors(Search("env.options.legs: {int: [2, 8]}", ", pruner: asha", "  seeds: {n: 2}\n")),
              ElementsAre(HasSubstr("needs one seed per point, got 2")));
  EXPECT_THAT(PlanErrors(Search("env.options.legs: {int: [2, 8]}", ", pruner: {type: asha, startup_trials: 3}")),
              ElementsAre(HasSubstr("asha accepts min_resource, reduction, got 'startup_trials'")));
  EXPECT_THAT(PlanErrors(Search("env.options.legs: {choice: [2, 8]}", ", method: cmaes")),
              ElementsAre(HasSubstr("method cmaes only searches numbers")));
  EXPECT_THAT(PlanErrors(Search("env.options.legs: {int: [2, 8]}", "", "  where: [\"env.options.legs > 9\"]\n")),
              ElementsAre(HasSubstr("the rules reject all")));
}

}  // namespace
}  // namespace backplane
