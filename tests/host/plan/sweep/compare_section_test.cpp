// `compare:` as points and seeds, and invalid comparisons.
#include "sweep_fixture.hpp"

namespace backplane {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

const std::string kArms = "  arms: [{name: a}, {name: b, learner.options.lr: 0.01}]\n";

class CompareSection : public SweepTest {
 protected:
  static std::string Order(const Plan& plan) {
    std::string order;
    for (const PlannedTrial& trial : plan.trials) order += plan.points[trial.point].name + std::to_string(trial.seed) + " ";
    return order;
  }
  Plan Looks(uint64_t looks, const std::string& lines) {
    PlanResult result = MakePlan(Write("e.yaml", kMinimal + lines), {{}, {}, Lookup(), {}, {}, {}, looks});
    for (const Diagnostic& d : result.errors) ADD_FAILURE() << Format(d);
    return result.plan.value_or(Plan{});
  }
};

TEST_F(CompareSection, ArmsTakeTurnsAndEveryLookBringsTheNextSeeds) {
  const std::string lines = "seed: 7\ncompare:\n" + kArms + "  looks: {n: 4, max: 3}\n";
  EXPECT_EQ(Order(Looks(1, lines)), "a7 b7 b8 a8 a9 b9 b10 a10 ");
  EXPECT_THAT(Looks(2, lines).trials, SizeIs(16));
  const Plan all = Looks(0, lines);
  EXPECT_THAT(all.trials, SizeIs(24));
  EXPECT_EQ(all.compare->looks.max, 3u);
  EXPECT_EQ(all.base.experiment.report.kind, "ab");
  EXPECT_FALSE(all.base.experiment.resources.exclusive);
}

TEST_F(CompareSection, ASpeedTakesTwoSeedsABlockAndTheMachineToItself) {
  const Plan plan = Looks(1, "compare:\n" + kArms + "  metric: SPS\n");
  EXPECT_EQ(Order(plan), "a0 b0 b1 a1 a2 b2 b3 a3 a4 b4 b5 a5 a6 b6 b7 a7 a8 b8 b9 a9 ");
  EXPECT_TRUE(plan.base.experiment.resources.exclusive);
}

TEST_F(CompareSection, MoreArmsNeedMoreSeedsForTheFirstLook) {
  const std::string third = "  arms: [{name: a}, {name: b, learner.options.lr: 0.01}, {name: c, learner.options.lr: 0.02}]\n";
  // 2 / C(2n, n) <= 0.05 / 5 of one pair is n = 5, <= 0.05 / (5 x 3) of three is n = 6.
  EXPECT_THAT(Looks(1, "compare:\n" + kArms).trials, SizeIs(2 * 5));
  EXPECT_THAT(Looks(1, "compare:\n" + third).trials, SizeIs(3 * 6));
}

TEST_F(CompareSection, AnArmIsTheTrialThatASweepWouldHave) {
  const Plan plan = Looks(1, "compare:\n" + kArms);
  const Plan swept = GoodPlan("sweep: {list: [{name: a}, {name: b, learner.options.lr: 0.01}], seeds: {n: 5}}\n");
  std::vector<std::string> ours = Ids(plan), theirs = Ids(swept);
  std::ranges::sort(ours);
  std::ranges::sort(theirs);
  EXPECT_EQ(ours, theirs);
}

TEST_F(CompareSection, RejectsThreeSeeds) {
  EXPECT_THAT(PlanErrors("compare:\n" + kArms + "  looks: {n: 3, max: 1}\n"),
              ElementsAre("7:3 compare.looks: 3 seeds can never show a difference at 5 %; set n: 4 or more, or max: 2"));
  EXPECT_THAT(PlanErrors("compare:\n" + kArms + "  looks: {n: 3, max: 2}\n"), SizeIs(0));
}

TEST_F(CompareSection, RejectsInvalidComparisons) {
  EXPECT_THAT(PlanErrors("compare: {arms: [{name: a}]}\n"), ElementsAre(HasSubstr("compare.arms: expected two or more")));
  EXPECT_THAT(PlanErrors("compare: {arms: [{name: a}, {name: a, learner.options.lr: 0.01}]}\n"),
              ElementsAre(HasSubstr("compare.arms: two arms are named 'a'")));
  EXPECT_THAT(PlanErrors("compare: {metric: SPS}\n"), ElementsAre(HasSubstr("missing key 'arms'")));
  EXPECT_THAT(PlanErrors("compare: 5\n"), ElementsAre(HasSubstr("compare: expected a mapping with arms, got 5")));
  EXPECT_THAT(PlanErrors("compare:\n" + kArms + "  metrik: SPS\n"),
              ElementsAre("7:3 unknown key 'metrik' in compare; did you mean 'metric'?"));
  EXPECT_THAT(PlanErrors("compare:\n" + kArms + "sweep: {seeds: {n: 2}}\n"),
              ElementsAre(HasSubstr("sweep: the arms of compare: already define all points")));
  EXPECT_THAT(PlanErrors("compare:\n" + kArms + "report: {kind: comparison}\n"),
              ElementsAre(HasSubstr("report.kind: expected ab or no kind next to compare:, got 'comparison'")));
  EXPECT_THAT(PlanErrors("compare: {arms: [{name: a}, {name: b, budget.iterations: 9}]}\n"),
              ElementsAre(HasSubstr("a comparison needs equal budgets")));
  EXPECT_THAT(PlanErrors("compare:\n" + kArms + "  margin: lots\n"), ElementsAre(HasSubstr("a percentage such as 5%")));
}

const std::string kTasks =
    "  tasks:\n"
    "    - {name: short, reference: [0, 10], budget.iterations: 2}\n"
    "    - {name: long, reference: [-5, 5], rollout.num_env_runners: 2}\n";

TEST_F(CompareSection, WithTasksEveryArmIsOnEach) {
  const std::string lines = "compare:\n" + kArms + kTasks + "  looks: {n: 6, max: 1}\n";
  const Plan plan = Looks(1, lines);
  std::vector<std::string> names;
  for (const PlannedPoint& point : plan.points) names.push_back(point.name);
  EXPECT_THAT(names, ElementsAre("a on short", "b on short", "a on long", "b on long"));
  EXPECT_THAT(plan.trials, SizeIs(4 * 6));
  EXPECT_EQ(plan.LoadPoint(1).experiment.budget.iterations, 2u);
  EXPECT_EQ(plan.LoadPoint(3).experiment.rollout.num_env_runners, 2u);
  EXPECT_EQ(plan.compare->direction, "up") << "as the references say";
  EXPECT_EQ(plan.compare->tasks[1].Normalised(0), 0.5);
  // 2 / C(2n, n) <= 0.05 / 5 of one pair is n = 5, <= 0.05 / (5 x 2) of a pair on two tasks is n = 6.
  EXPECT_THAT(Looks(1, "compare:\n" + kArms + kTasks).trials, SizeIs(4 * 6));
}

TEST_F(CompareSection, AnArmMayNameItsTask) {
  const Plan crossed = Looks(1, "compare:\n" + kArms + kTasks);
  const Plan named = Looks(1,
                           "compare:\n"
                           "  arms:\n"
                           "    - {name: a, task: short, budget.iterations: 2}\n"
                           "    - {name: b, task: short, budget.iterations: 2, learner.options.lr: 0.01}\n"
                           "    - {name: a, task: long, rollout.num_env_runners: 2}\n"
                           "    - {name: b, task: long, rollout.num_env_runners: 2, learner.options.lr: 0.01}\n"
                           "  tasks: [{name: short, reference: [0, 10]}, {name: long, reference: [-5, 5]}]\n");
  EXPECT_EQ(Ids(named), Ids(crossed));
}

TEST_F(CompareSection, RejectsInvalidTasks) {
  const auto with = [&](const std::string& tasks, const std::string& arms = kArms) {
    return PlanErrors("compare:\n" + arms + "  tasks: " + tasks + "\n");
  };
  EXPECT_THAT(with("[{name: x, reference: [0, 1]}]"), ElementsAre(HasSubstr("compare.tasks: expected two or more")));
  EXPECT_THAT(with("[{name: x, reference: [0, 1]}, {name: y}]"),
              ElementsAre(HasSubstr("compare.tasks: expected reference: [worst, best]")));
  EXPECT_THAT(with("[{name: x, reference: [0, 1]}, {name: y, reference: [2, 2]}]"),
              ElementsAre(HasSubstr("compare.tasks: expected reference: [worst, best]")));
  EXPECT_THAT(with("[{name: x, reference: [0, 1]}, {name: x, reference: [0, 2]}]"),
              ElementsAre(HasSubstr("two tasks are named 'x'")));
  EXPECT_THAT(with("[{name: x, reference: [0, 1]}, {name: y, reference: [2, 1]}]"),
              ElementsAre(HasSubstr("reference of 'y': expected [worst, best], where up is better, got [2, 1]")));
  EXPECT_THAT(with("[{name: x, reference: [0, 1]}, {name: y on z, reference: [0, 1]}]"),
              ElementsAre(HasSubstr("'y on z' contains ' on '")));
  EXPECT_THAT(with("[{name: x, reference: [0, 1]}, {name: on ice, reference: [0, 1]}]"),
              ElementsAre(HasSubstr("'on ice' begins with 'on'")))
      << "'a on on ice' may be the arm 'a on' on the task 'ice'";
  EXPECT_THAT(
      with("[{name: x, reference: [0, 1]}, {name: y, reference: [0, 1], learner.options.lr: 0.1}]"),
      ElementsAre(HasSubstr("'learner.options.lr' of arm 'b' and 'learner.options.lr' of task 'y' set the same value")));
  EXPECT_THAT(with("[{name: x, reference: [0, 1]}, {name: y, reference: [0, 1]}]\n  metric: SPS"),
              ElementsAre(HasSubstr("expected a compare.metric of learning, got SPS, a measure of speed or time")));
  const std::string one_more =
      "  arms: [{name: a}, {name: b, learner.options.lr: 0.01}, {name: c, task: x, learner.options.lr: 0.02}]\n";
  EXPECT_THAT(with("[{name: x, reference: [0, 1]}, {name: y, reference: [0, 1]}]", one_more),
              Contains(HasSubstr("but 'y' has a, b and others have a, b, c")));
  const std::string twice =
      "  arms: [{name: a}, {name: b, learner.options.lr: 0.01}, {name: a, task: y, learner.options.lr: 0.1}]\n";
  EXPECT_THAT(with("[{name: x, reference: [0, 1]}, {name: y, reference: [0, 1]}]", twice),
              Contains(HasSubstr("two arms on task 'y' are named 'a'")));
}

TEST_F(CompareSection, TheCommandLineChangesIt) {
  const Plan plan = GoodPlan("compare:\n" + kArms, {}, {"compare.metric=SPS", "compare.margin=3%", "compare.looks.max=2"});
  EXPECT_EQ(plan.compare->metric, "SPS");
  EXPECT_EQ(plan.compare->margin_pct(), 3);
  EXPECT_EQ(plan.compare->looks.max, 2u);
}

}  // namespace
}  // namespace backplane
