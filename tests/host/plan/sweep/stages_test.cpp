// Settings trained one after the other: chains of points, chains of trials.
#include "sweep_fixture.hpp"

namespace backplane {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kTwo =
    "stages:\n"
    "  - {name: rise, env.options.legs: 2, learner.options.lr: 0.5}\n"
    "  - {name: stand, env.options.legs: 4, budget.iterations: 7}\n";

class StagesTest : public SweepTest {
 protected:
  // "name seed<name seed of the trial it starts from" of each trial, in order.
  static std::vector<std::string> Trials(const Plan& plan) {
    std::vector<std::string> texts;
    for (const PlannedTrial& trial : plan.trials) {
      texts.push_back(Called(plan, trial) + (trial.after ? "<" + Called(plan, plan.trials[*trial.after]) : ""));
    }
    return texts;
  }

 private:
  static std::string Called(const Plan& plan, const PlannedTrial& trial) {
    return plan.points[trial.point].name + " " + std::to_string(trial.seed);
  }
};

TEST_F(StagesTest, EachIsAPointOfItsOwnAndStartsFromTheOneBefore) {
  const Plan plan = GoodPlan(kTwo);
  EXPECT_THAT(plan.stages, ElementsAre("rise", "stand"));
  EXPECT_THAT(Trials(plan), ElementsAre("rise 0", "stand 0<rise 0"));
  const Experiment rise = plan.Load(plan.trials[0]).experiment, stand = plan.Load(plan.trials[1]).experiment;
  EXPECT_EQ(rise.env.options["legs"], 2);
  EXPECT_EQ(rise.learner.options["lr"], 0.5);
  EXPECT_EQ(rise.budget.iterations, 3u) << "as the file says";
  EXPECT_EQ(stand.env.options["legs"], 4);
  EXPECT_EQ(stand.learner.options["lr"], 3e-4) << "a stage does not change the next";
  EXPECT_EQ(stand.budget.iterations, 7u);
}

TEST_F(StagesTest, ALaterOneNamesItsStart) {
  const Plan plan = GoodPlan(kTwo);
  const Plan first = GoodPlan("", {}, {"env.options.legs=2", "learner.options.lr=0.5"});
  const Plan last = GoodPlan("", {}, {"env.options.legs=4", "budget.iterations=7"});
  EXPECT_EQ(plan.Identity(plan.trials[0])["point"]["learner"], first.Identity(first.trials[0])["point"]["learner"]);
  EXPECT_NE(plan.trials[1].id, last.trials[0].id);
  EXPECT_EQ(plan.Identity(plan.trials[1])["after"], plan.trials[0].id);
  EXPECT_NE(GoodPlan(kTwo, {}, {"stages.rise.learner.options.lr=0.25"}).trials[1].id, plan.trials[1].id)
      << "a different first stage gives a different trial";
  const Plan longer = GoodPlan(kTwo, {}, {"budget.iterations=9"});
  EXPECT_NE(longer.trials[0].id, plan.trials[0].id) << "the second would start from another state of the same trial";
  EXPECT_NE(longer.trials[1].id, plan.trials[1].id);
}

TEST_F(StagesTest, TheFirstIsAPlainTrialIfTheBudgetBelongsToBoth) {
  schema_ = 2;
  EXPECT_EQ(GoodPlan(kTwo).trials[0].id, GoodPlan("", {}, {"env.options.legs=2", "learner.options.lr=0.5"}).trials[0].id);
}

TEST_F(StagesTest, AxesAndSeedsAreOutsideStages) {
  const Plan plan = GoodPlan(kTwo + "sweep: {grid: {learner.options.epochs: [5, 6]}, seeds: {n: 2}}\n");
  EXPECT_EQ(plan.generated, 2u);
  EXPECT_EQ(plan.points.size(), 4u);
  EXPECT_THAT(Trials(plan),
              ElementsAre("epochs=5 rise 0", "epochs=5 stand 0<epochs=5 rise 0", "epochs=5 rise 1",
                          "epochs=5 stand 1<epochs=5 rise 1", "epochs=6 rise 0", "epochs=6 stand 0<epochs=6 rise 0",
                          "epochs=6 rise 1", "epochs=6 stand 1<epochs=6 rise 1"));
  EXPECT_EQ(
      plan.points[1].values,
      (std::vector<std::pair<std::string, json>>{
          {"learner.options.epochs", 5}, {"env.options.legs", 4}, {"learner.options.lr", 3e-4}, {"budget.iterations", 7}}));
}

TEST_F(StagesTest, SeedsOfPointsOwnGoThroughTheWholeChain) {
  const Plan plan = GoodPlan(kTwo + "sweep: {grid: {learner.options.epochs: [5, 6]}, seeds: {n: 1, paired: false}}\n");
  EXPECT_EQ(plan.trials[0].seed, plan.trials[1].seed);
  EXPECT_EQ(plan.trials[2].seed, plan.trials[3].seed);
  EXPECT_NE(plan.trials[0].seed, plan.trials[2].seed);
}

TEST_F(StagesTest, AValueOfOneStageIsAnAxisAndTheBeginningIsTrainedOnce) {
  const std::string lines = kTwo + "sweep: {grid: {stages.stand.learner.options.lr: [0.1, 0.2]}, seeds: {n: 2}}\n";
  const Plan plan = GoodPlan(lines);
  EXPECT_THAT(Trials(plan), ElementsAre("rise 0", "lr=0.1 stand 0<rise 0", "rise 1", "lr=0.1 stand 1<rise 1",
                                        "lr=0.2 stand 0<rise 0", "lr=0.2 stand 1<rise 1"));
}

TEST_F(StagesTest, ALaterStageIsNamedByTheValuesOfItsChain) {
  const Plan plan = GoodPlan(kTwo + "sweep: {grid: {stages.rise.learner.options.epochs: [5, 6]}}\n");
  EXPECT_THAT(Names(plan), ElementsAre("epochs=5 rise", "epochs=5 stand", "epochs=6 rise", "epochs=6 stand"));
}

TEST_F(StagesTest, SetAppliesToAllStagesOrToOneStage) {
  const Plan all = GoodPlan(kTwo, {}, {"budget.iterations=2"});
  EXPECT_EQ(all.Load(all.trials[1]).experiment.budget.iterations, 2u);
  const Plan one = GoodPlan(kTwo, {}, {"stages.stand.budget.iterations=2", "stages.stand.learner.options.epochs=3"});
  EXPECT_EQ(one.Load(one.trials[0]).experiment.budget.iterations, 3u);
  EXPECT_EQ(one.Load(one.trials[1]).experiment.budget.iterations, 2u);
  EXPECT_EQ(one.Load(one.trials[1]).experiment.learner.options["epochs"], 3);
}

TEST_F(StagesTest, ARuleThatDropsOneStageDropsTheChain) {
  const Plan plan = GoodPlan(kTwo +
                             "sweep: {grid: {learner.options.epochs: [5, 6]}, "
                             "where: [\"env.options.legs + learner.options.epochs < 10\"]}\n");
  EXPECT_THAT(Trials(plan), ElementsAre("epochs=5 rise 0", "epochs=5 stand 0<epochs=5 rise 0"));
  ASSERT_EQ(plan.dropped.size(), 1u);
  EXPECT_EQ(plan.dropped[0].rule, "where #1");
  EXPECT_EQ(plan.dropped[0].why, "in stage stand");
}

TEST_F(StagesTest, KeepsTheOrderOfStagesIfTimesAreCompared) {
  const Plan plan = GoodPlan(kTwo +
                             "report: {kind: parallel_efficiency}\n"
                             "sweep: {grid: {rollout.num_env_runners: [1, 2]}, seeds: {n: 2}}\n");
  EXPECT_THAT(Trials(plan), ElementsAre("num_env_runners=1 rise 0", "num_env_runners=1 stand 0<num_env_runners=1 rise 0",
                                        "num_env_runners=2 rise 0", "num_env_runners=2 stand 0<num_env_runners=2 rise 0",
                                        "num_env_runners=2 rise 1", "num_env_runners=2 stand 1<num_env_runners=2 rise 1",
                                        "num_env_runners=1 rise 1", "num_env_runners=1 stand 1<num_env_runners=1 rise 1"));
}

TEST_F(StagesTest, TheBudgetMayBeOnlyInTheStages) {
  const PlanResult result = PlanText(
      "experiment: first\nenv: {plugin: walker}\nlearner: {plugin: climber}\n"
      "stages: [{name: a, budget.iterations: 1}, {name: b, budget.env_steps: 9}]\n");
  ASSERT_TRUE(result.plan) << Format(result.errors.at(0));
  EXPECT_EQ(result.plan->Load(result.plan->trials[1]).experiment.budget.env_steps, 9u);
  EXPECT_FALSE(result.plan->Load(result.plan->trials[1]).experiment.budget.iterations);
}

TEST_F(StagesTest, EveryMistakeHasItsPlace) {
  EXPECT_THAT(PlanErrors("stages: {name: rise}\n"), ElementsAre(HasSubstr("5:9 stages: expected a list")));
  EXPECT_THAT(PlanErrors("stages: []\n"), ElementsAre(HasSubstr("got an empty one")));
  EXPECT_THAT(PlanErrors("stages: [{env.options.legs: 2}]\n"), ElementsAre(HasSubstr("missing key 'name'")));
  EXPECT_THAT(PlanErrors("stages: [{name: a}, {name: a}]\n"), ElementsAre("5:22 stages: two stages are named 'a'"));
  EXPECT_THAT(PlanErrors("stages: [{name: a, learner.plugin: hopper}]\n"),
              ElementsAre(HasSubstr("one learner goes through all stages")));
  EXPECT_THAT(PlanErrors("stages: [{name: a, seed: 3}]\n"), ElementsAre(HasSubstr("all stages of a trial share its seed")));
  EXPECT_THAT(PlanErrors("stages: [{name: a, env.options.leg: 3}]\n"),
              ElementsAre("5:20 unknown path 'env.options.leg'; did you mean 'env.options.legs'?"));
  EXPECT_THAT(PlanErrors("stages: [{name: a, env.options.legs: 99}]\n"), ElementsAre(HasSubstr("5:38 ")));
  EXPECT_THAT(PlanErrors(kTwo, {}, {"stages.stnd.budget.iterations=2"}),
              ElementsAre(HasSubstr("unknown stage 'stnd'; did you mean 'stand'?")));
  EXPECT_THAT(PlanErrors("", {}, {"stages.stand.budget.iterations=2"}), ElementsAre(HasSubstr("the experiment has no stages")));
  EXPECT_THAT(PlanErrors(kTwo + "sweep: {grid: {stages.up.budget.iterations: [2]}}\n"),
              ElementsAre(HasSubstr("unknown stage 'up'")));
  EXPECT_THAT(PlanErrors(kTwo + "sweep: {grid: {env.options.legs: [2, 3]}}\n"),
              Each(HasSubstr("'env.options.legs' is set twice")));
  EXPECT_THAT(PlanErrors(kTwo + "sweep: {derive: {stages.stand.learner.options.epochs: \"1\"}}\n"),
              Contains(HasSubstr("cannot derive a value for one stage")));
}

// In the words of version 0.1.
TEST_F(StagesTest, TheirOlderNameMeansTheSame) {
  std::string older = kTwo;
  older.replace(0, 6, "phases");
  const std::vector<std::string> set = {"stages.stand.budget.iterations=2"};
  const std::string axis = "sweep: {grid: {stages.rise.learner.options.lr: [0.1, 0.2]}}\n";
  std::string older_axis = axis;
  older_axis.replace(older_axis.find("stages"), 6, "phases");
  const Plan today = GoodPlan(kTwo + axis, {}, set),
             before = GoodPlan(older + older_axis, {}, {"phases.stand.budget.iterations=2"});
  ASSERT_EQ(before.trials.size(), today.trials.size());
  for (size_t i = 0; i < today.trials.size(); ++i) EXPECT_EQ(before.trials[i].id, today.trials[i].id);
  EXPECT_EQ(Trials(before), Trials(today));
  EXPECT_EQ(Trials(GoodPlan(older, {"phases.rise.learner.options.lr=0.1,0.2"})), Trials(today));
  const std::string memory =
      "sweep: {grid: {phases.rise.rollout.num_env_runners: [1, 2]}, memory_axes: [phases.rise.rollout.num_env_runners]}\n";
  EXPECT_EQ(GoodPlan(older + memory).memory_axes.size(), 1u);
  EXPECT_THAT(PlanErrors(kTwo + older), ElementsAre(HasSubstr("'phases' is the older name of 'stages', which is set at")));
}

}  // namespace
}  // namespace backplane
