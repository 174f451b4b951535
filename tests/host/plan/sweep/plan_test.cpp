#include "sweep_fixture.hpp"

namespace backplane {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using PlanTest = SweepTest;

// 64 and 7 values: experiments.md 12.1.
const std::string kBatch = "  grid:\n    learner.options.micro: [1, 2, 4, 8, 16, 32, 64]\n";

TEST_F(PlanTest, WhereFiltersAProductAndSeedsMultiplyIt) {
  Plan plan = GoodPlan("sweep:\n" + kBatch + "    learner.options.accum: [1, 2, 4, 8, 16, 32, 64]\n" +
                       "  where: [\"learner.options.micro * learner.options.accum == 64\"]\n  seeds: {n: 3}\n");
  EXPECT_EQ(plan.generated, 49u);
  EXPECT_EQ(DroppedBy(plan, "where #1"), 42u);
  EXPECT_EQ(plan.points.size(), 7u);
  EXPECT_EQ(plan.trials.size(), 21u);
}

TEST_F(PlanTest, TheSameByDeriveDropsNothing) {
  Plan plan =
      GoodPlan("sweep:\n" + kBatch + "  derive: {learner.options.accum: \"64 / learner.options.micro\"}\n  seeds: {n: 3}\n");
  EXPECT_EQ(plan.generated, 7u);
  EXPECT_EQ(plan.dropped.size(), 0u);
  EXPECT_EQ(plan.trials.size(), 21u);
  EXPECT_EQ(ValuesAt(plan, "learner.options.accum"), (std::vector<json>{64, 32, 16, 8, 4, 2, 1}));
  EXPECT_EQ(plan.Load(plan.trials[3]).experiment.learner.options["accum"], 32);
}

TEST_F(PlanTest, GridAndZipCrossAndTheListIsAppended) {
  Plan plan = GoodPlan(
      "sweep:\n"
      "  list: [{name: large, rollout.num_env_runners: 9}, {learner.options.lr: 0.5}]\n"
      "  zip: {arch: {learner.options.hidden: [[64], [256]], learner.options.lr: [1.0e-3, 3.0e-4]}}\n"
      "  grid: {rollout.num_env_runners: [1, 2], env.options.legs: [2, 3, 4]}\n");
  EXPECT_EQ(plan.points.size(), 14u);
  EXPECT_EQ(plan.points[0].name, "num_env_runners=1 legs=2 hidden=[64] lr=0.001");
  EXPECT_EQ(plan.points[1].name, "num_env_runners=1 legs=2 hidden=[256] lr=0.0003");  // the last axis varies fastest
  EXPECT_EQ(plan.points[12].name, "large");
  EXPECT_EQ(plan.points[13].name, "lr=0.5");
  EXPECT_TRUE(plan.swept);
}

TEST_F(PlanTest, AZipMayNameItsSteps) {
  EXPECT_THAT(Names(GoodPlan("sweep: {zip: {arch: {name: [small, large], learner.options.hidden: [[8], [64]]}}}\n")),
              ElementsAre("small", "large"));
}

TEST_F(PlanTest, AListWithoutAxesHasNoBasePoint) {
  Plan plan =
      GoodPlan("sweep: {list: [{name: before, learner.options.epochs: 9}, {name: after, learner.options.epochs: 5}]}\n");
  EXPECT_THAT(Names(plan), ElementsAre("before", "after"));
  EXPECT_EQ(plan.points[0].values, (std::vector<std::pair<std::string, json>>{{"learner.options.epochs", 9}}));
}

const std::string kTwoLearners =
    "sweep: {list: [{name: simple, learner: {plugin: hopper}}, {name: before, learner: {plugin: climber, options: {epochs: "
    "9}}}]}\n";

TEST_F(PlanTest, APointOfTheListIsVariedByItsNameAndAllOthersStay) {
  Plan plan = GoodPlan(kTwoLearners, {"before:learner.options.epochs=4,5"});
  EXPECT_THAT(Names(plan), ElementsAre("simple", "before", "before epochs=4", "before epochs=5"));
  const Experiment varied = plan.Load(plan.trials[3]).experiment;
  EXPECT_EQ(varied.learner.plugin, "climber");
  EXPECT_EQ(varied.learner.options["epochs"], 5);
  const std::vector<std::string> without = Ids(GoodPlan(kTwoLearners)), with = Ids(plan);
  EXPECT_TRUE(std::equal(without.begin(), without.end(), with.begin())) << "earlier trials need not run again";
}

TEST_F(PlanTest, AnAxisOfTheCommandLineVariesEveryPointOfAList) {
  Plan plan = GoodPlan(kTwoLearners, {"env.options.legs=4,2"});  // 4 is the default
  EXPECT_THAT(Names(plan), ElementsAre("simple", "before", "simple legs=2", "before legs=2"));
  EXPECT_EQ(DroppedBy(plan, "same as another point"), 2u);
}

TEST_F(PlanTest, SeveralChangesOfOnePointCross) {
  Plan plan = GoodPlan(kTwoLearners, {"before:learner.options.epochs=4,5", "env.options.legs=2"});
  EXPECT_THAT(Names(plan),
              ElementsAre("simple", "before", "simple legs=2", "before epochs=4 legs=2", "before epochs=5 legs=2"));
}

TEST_F(PlanTest, StepsOfAZipHaveNamesToo) {
  Plan plan = GoodPlan("sweep: {zip: {arch: {name: [small, large], learner.options.hidden: [[8], [64]]}}}\n",
                       {"large:learner.options.hidden=[32]"});
  EXPECT_THAT(Names(plan), ElementsAre("small", "large", "large hidden=[32]"));
}

TEST_F(PlanTest, RejectsInvalidPointAxes) {
  EXPECT_THAT(PlanErrors(kTwoLearners, {"befor:env.options.legs=2"}),
              ElementsAre(HasSubstr("unknown point 'befor'; did you mean 'before'?")));
  EXPECT_THAT(PlanErrors(kTwoLearners, {"before:seed=2"}), ElementsAre(HasSubstr("'seed' cannot be swept")));
  EXPECT_THAT(PlanErrors(kTwoLearners, {"before:env.options.legs=2", "before:env.options.legs=3"}),
              ElementsAre(HasSubstr("'env.options.legs' is swept twice")));
  EXPECT_THAT(PlanErrors("sweep: {list: [{name: a}], derive: {env.options.legs: \"2 + 1\"}}\n", {"a:env.options.legs=2"}),
              ElementsAre(HasSubstr("'env.options.legs' cannot be swept: it is derived at")));
}

TEST_F(PlanTest, HasOnePointWithoutASweep) {
  Plan plan = GoodPlan("seed: 4\n");
  EXPECT_FALSE(plan.swept);
  EXPECT_EQ(plan.points.size(), 1u);
  EXPECT_EQ(plan.points[0].name, "");
  EXPECT_THAT(SeedsOf(plan), ElementsAre(4));
}

TEST_F(PlanTest, ARangeIncludesItsStop) {
  Plan plan = GoodPlan("sweep: {grid: {env.options.legs: {range: [2, 8, 3]}, learner.options.lr: {range: [0.1, 0.3, 0.1]}}}\n");
  EXPECT_EQ(plan.points.size(), 9u);
  EXPECT_EQ(plan.points[8].name, "legs=8 lr=0.3");
  EXPECT_EQ(ValuesAt(plan, "learner.options.lr")[2], 0.3);
}

TEST_F(PlanTest, WhenRemovesAKeyAndEqualPointsCollapse) {
  Plan plan = GoodPlan(
      "sweep:\n"
      "  grid:\n"
      "    learner: [{plugin: climber}, {plugin: hopper}]\n"
      "    learner.options.sigma: {values: [0.2, 0.3], when: \"learner.plugin == 'hopper'\"}\n");
  EXPECT_EQ(plan.generated, 4u);
  EXPECT_EQ(DroppedBy(plan, "same as another point"), 1u);
  EXPECT_THAT(Names(plan), ElementsAre("learner=climber", "learner=hopper sigma=0.2", "learner=hopper sigma=0.3"));
}

TEST_F(PlanTest, WholeMappingsAreValues) {
  Plan plan = GoodPlan("sweep: {grid: {learner: [{plugin: climber, options: {alpha: 0.5}}, {plugin: hopper}]}}\n");
  EXPECT_THAT(Names(plan), ElementsAre("learner=climber(alpha=0.5)", "learner=hopper"));
  EXPECT_EQ(plan.Load(plan.trials[0]).experiment.learner.options["lr"], 0.5);
  EXPECT_EQ(plan.Load(plan.trials[1]).learner->id, "learner.hopper");
}

TEST_F(PlanTest, AMappingIsWrittenBeforeValuesInsideIt) {
  Plan plan = GoodPlan("sweep: {grid: {learner.options.lr: [0.5], learner: [{plugin: climber, options: {lr: 0.1}}]}}\n");
  EXPECT_EQ(plan.Load(plan.trials[0]).experiment.learner.options["lr"], 0.5);
}

TEST_F(PlanTest, FilesAreAnAxis) {
  Write("a.yaml", "experiment: alone\nlearner: {options: {lr: 0.5}}\noutput: {dir: elsewhere}\n");
  Write("b.yaml", "learner: {options: {lr: 0.25}}\n");
  Plan plan = GoodPlan("sweep: {files: [a.yaml, b.yaml], grid: {env.options.legs: [2, 3]}}\n");
  EXPECT_THAT(Names(plan), ElementsAre("legs=2 a", "legs=2 b", "legs=3 a", "legs=3 b"));
  Experiment second = plan.Load(plan.trials[1]).experiment;
  EXPECT_EQ(second.learner.options["lr"], 0.25);
  EXPECT_EQ(second.name, "first");
  EXPECT_EQ(plan.Load(plan.trials[0]).experiment.output_dir, "outputs/first");
}

TEST_F(PlanTest, RandomDrawsDependOnlyOnSeedDrawAndPath) {
  const std::string lr = "learner.options.lr: {log_uniform: [1.0e-5, 1.0e-2]}", legs = "env.options.legs: {int: [1, 8]}";
  Plan plan = GoodPlan("sweep: {random: {trials: 20, seed: 7, space: {" + lr + ", " + legs + "}}}\n");
  Plan turned = GoodPlan("sweep: {random: {trials: 20, seed: 7, space: {" + legs + ", " + lr + "}}}\n");
  Plan other = GoodPlan("sweep: {random: {trials: 20, seed: 8, space: {" + lr + ", " + legs + "}}}\n");
  EXPECT_EQ(plan.generated, 20u);
  EXPECT_EQ(Ids(plan), Ids(turned));
  EXPECT_NE(Ids(plan), Ids(other));
  for (const json& value : ValuesAt(plan, "learner.options.lr")) {
    EXPECT_GE(value, 1.0e-5);
    EXPECT_LE(value, 1.0e-2);
  }
}

TEST_F(PlanTest, RandomStepsAndChoices) {
  Plan plan = GoodPlan(
      "sweep: {random: {trials: 50, space: {learner.options.micro: {int: [2, 8], step: 3}, env.options.reward: {uniform: [0, "
      "1], step: "
      "0.25}, learner.options.accum: {log_int: [1, 64]}, learner.options.device: {choice: [cpu, cuda]}}}}\n");
  for (const json& value : ValuesAt(plan, "learner.options.micro"))
    EXPECT_TRUE(value == 2 || value == 5 || value == 8) << value;
  std::set<json> rewards, devices;
  for (const json& value : ValuesAt(plan, "env.options.reward")) rewards.insert(value);
  for (const json& value : ValuesAt(plan, "learner.options.device")) devices.insert(value);
  EXPECT_EQ(rewards, (std::set<json>{0.0, 0.25, 0.5, 0.75, 1.0}));
  EXPECT_EQ(devices, (std::set<json>{"cpu", "cuda"}));
  for (const json& value : ValuesAt(plan, "learner.options.accum")) EXPECT_TRUE(value >= 1 && value <= 64) << value;
}

TEST_F(PlanTest, SeedsArePairedOrDrawnFromThePoint) {
  const std::string grid = "grid: {env.options.legs: [2, 3]}";
  EXPECT_THAT(SeedsOf(GoodPlan("sweep: {" + grid + ", seeds: {n: 2, first: 5}}\n")), ElementsAre(5, 6, 5, 6));
  std::vector<uint64_t> own = SeedsOf(GoodPlan("sweep: {" + grid + ", seeds: {n: 2, paired: false}}\n"));
  EXPECT_EQ((std::set<uint64_t>(own.begin(), own.end()).size()), 4u);
  EXPECT_EQ(own, SeedsOf(GoodPlan("sweep: {" + grid + ", seeds: {n: 2, paired: false}}\n")));
  Plan plan = GoodPlan("sweep: {seeds: {n: 2, first: 5}}\n");
  EXPECT_EQ(plan.Load(plan.trials[1]).experiment.seed, 6u);
}

TEST_F(PlanTest, ReversesEverySecondPassIfTimesAreCompared) {
  const std::string sweep = "sweep: {grid: {env.options.legs: [2, 3, 4]}, seeds: {n: 2}}\n";
  std::vector<size_t> order;
  for (const PlannedTrial& trial : GoodPlan(sweep + "report: {kind: parallel_efficiency}\n").trials)
    order.push_back(trial.point);
  EXPECT_THAT(order, ElementsAre(0, 1, 2, 2, 1, 0));
}

TEST_F(PlanTest, SpeedMeasurementsHaveTwoSeedsPerPointByDefault) {
  const auto trials = [&](const std::string& lines) {
    std::vector<std::pair<size_t, uint64_t>> found;
    const Plan plan = GoodPlan(lines);
    for (const PlannedTrial& trial : plan.trials) {
      found.emplace_back(trial.point, trial.seed);
      EXPECT_EQ(plan.Load(trial).experiment.seed, trial.seed);
    }
    return found;
  };
  using Pair = std::pair<size_t, uint64_t>;
  const std::string measured = "report: {kind: parallel_efficiency}\n", grid = "sweep: {grid: {env.options.legs: [2, 3]}";
  EXPECT_THAT(trials(measured), ElementsAre(Pair(0, 0), Pair(0, 1)));
  EXPECT_THAT(trials(measured + "seed: 7\n" + grid + "}\n"), ElementsAre(Pair(0, 7), Pair(1, 7), Pair(1, 8), Pair(0, 8)));
  EXPECT_THAT(trials(measured + grid + ", seeds: {n: 1}}\n"), ElementsAre(Pair(0, 0), Pair(1, 0)));
  EXPECT_THAT(trials(grid + "}\n"), ElementsAre(Pair(0, 0), Pair(1, 0)));
  const Plan plan = GoodPlan(measured + grid + ", seeds: {n: 3}}\n");
  EXPECT_EQ(plan.Load(plan.trials[0]).seeds, 3u) << "which share the time of their point";
}

TEST_F(PlanTest, ADerivedValueThatDoesNotFitDropsThePoint) {
  Plan plan = GoodPlan(
      "sweep: {grid: {learner.options.micro: [2, 3, 128]}, derive: {learner.options.accum: \"64 / learner.options.micro\"}}\n");
  ASSERT_EQ(plan.dropped.size(), 2u);
  EXPECT_EQ(plan.dropped[0].rule, "derive learner.options.accum");
  EXPECT_EQ(plan.dropped[0].why, "64 / 3 is no integer");
  EXPECT_EQ(plan.dropped[0].values[0], (std::pair<std::string, json>("learner.options.micro", 3)));
  Plan zero =
      GoodPlan("sweep: {grid: {env.options.reward: [0, 1]}, derive: {learner.options.accum: \"64 / env.options.reward\"}}\n");
  ASSERT_EQ(zero.dropped.size(), 1u);
  EXPECT_THAT(zero.dropped[0].why, HasSubstr("division by zero"));
}

TEST_F(PlanTest, DerivedValuesMayNeedEachOther) {
  Plan plan = GoodPlan(
      "sweep: {derive: {learner.options.accum: \"learner.options.micro + 1\", learner.options.micro: \"rollout.num_env_runners "
      "* 4\"}}\n");
  EXPECT_EQ(plan.Load(plan.trials[0]).experiment.learner.options["accum"], 5);
}

TEST_F(PlanTest, ARequiredOptionMayBeDerivedOrSwept) {
  const std::string head = "experiment: a\nenv: {plugin: walker}\nlearner: {plugin: strict}\nbudget: {iterations: 1}\n";
  for (const char* sweep : {"sweep: {derive: {learner.options.steps: \"2 * learner.options.size\"}}\n",
                            "sweep: {grid: {learner.options.steps: [16]}}\n"}) {
    PlanResult result = PlanText(head + sweep);
    ASSERT_TRUE(result.plan) << Format(result.errors.at(0));
    EXPECT_EQ(result.plan->Load(result.plan->trials[0]).experiment.learner.options["steps"], 16);
    EXPECT_EQ(result.plan->base.experiment.name, "a");
  }
}

TEST_F(PlanTest, AliasesAndHostKeysAreOnePath) {
  Plan plan = GoodPlan("sweep: {grid: {learner.options.learning_rate: [0.5], learner.options.num_workers: [2, 4]}}\n");
  EXPECT_EQ(plan.Load(plan.trials[1]).experiment.rollout.num_env_runners, 4u);
  EXPECT_EQ(plan.Load(plan.trials[1]).experiment.learner.options["lr"], 0.5);
  EXPECT_EQ(
      GoodPlan("sweep: {grid: {learner.options.num_workers: [2]}, where: [\"rollout.num_env_runners == 2\"]}\n").points.size(),
      1u);
}

TEST_F(PlanTest, TheShortFormReplacesAnAxisOrAddsOne) {
  const std::string grid = "sweep: {grid: {env.options.legs: [2, 3], rollout.num_env_runners: [1]}}\n";
  EXPECT_THAT(Names(GoodPlan(grid, {"env.options.legs=5"})), ElementsAre("legs=5 num_env_runners=1"));
  EXPECT_EQ(GoodPlan(grid, {"learner.options.lr=1e-3,3e-4"}).points.size(), 4u);
  EXPECT_THAT(Names(GoodPlan("", {"env.options.legs=range(1,8,3)"})), ElementsAre("legs=1", "legs=4", "legs=7"));
  EXPECT_THAT(Names(GoodPlan("", {"learner.options.device=choice(cpu,cuda)"})), ElementsAre("device=cpu", "device=cuda"));
  EXPECT_THAT(Names(GoodPlan("", {"learner.options.hidden=[8],[16, 16]"})), ElementsAre("hidden=[8]", "hidden=[16,16]"));
  Plan plan =
      GoodPlan("sweep: {random: {trials: 2, space: {learner.options.lr: {uniform: [0.1, 1]}}}}\n", {"learner.options.lr=0.5"});
  EXPECT_THAT(Names(plan), ElementsAre("lr=0.5"));
  EXPECT_TRUE(plan.swept);
}

TEST_F(PlanTest, SetReachesTheSweepsOwnKeys) {
  EXPECT_EQ(GoodPlan("sweep: {grid: {env.options.legs: [2, 3]}}\n", {}, {"sweep.seeds.n=4"}).trials.size(), 8u);
}

TEST_F(PlanTest, MemoryAxesAreKept) {
  EXPECT_THAT(GoodPlan("sweep: {grid: {env.options.legs: [2]}, memory_axes: [env.options.legs]}\n").memory_axes,
              ElementsAre("env.options.legs"));
}

TEST_F(PlanTest, AxesReplaceAPresetWhichAppliesOnlyToItsLearner) {
  Write("presets/wide.yaml",
        "rollout: {num_env_runners: 8, num_envs_per_env_runner: 16}\n"
        "for_learner: {hopper: {learner: {options: {sigma: 2}}}, climber: {learner: {options: {epochs: 3}}}}\n");
  presets_.name = "wide";
  const Plan plan = GoodPlan(
      "sweep: {grid: {rollout.num_env_runners: [1, 2], learner: [{plugin: hopper}, {plugin: climber}, {plugin: "
      "climber, options: {epochs: 5}}]}}\n");
  ASSERT_EQ(plan.trials.size(), 6u);
  for (const PlannedTrial& trial : plan.trials) {
    const Experiment experiment = plan.Load(trial).experiment;
    EXPECT_LE(experiment.rollout.num_env_runners, 2u);
    EXPECT_EQ(experiment.rollout.num_envs_per_env_runner, 16u);
  }
  const auto options = [&](size_t trial) { return plan.Load(plan.trials[trial]).experiment.learner.options; };
  EXPECT_EQ(options(0)["sigma"], 2);
  EXPECT_EQ(options(1)["epochs"], 3);
  EXPECT_EQ(options(2)["epochs"], 5) << "a whole mapping of the axis gives it";
}

}  // namespace
}  // namespace backplane
