// Equal trials across plans: experiments.md 12.2.
#include "sweep/identity.hpp"
#include "sweep/plan_lines.hpp"
#include "sweep_fixture.hpp"

namespace backplane {
namespace {

using ::testing::Contains;
using PlanIdentityTest = SweepTest;

const std::string kGrid = "sweep: {grid: {learner.options.lr: [1.0e-3, 0.5], env.options.legs: [2, 3]}}\n";

TEST_F(PlanIdentityTest, OrderSpellingDefaultsAndCommentsChangeNoId) {
  const std::vector<std::string> ids = Ids(GoodPlan(kGrid));
  EXPECT_EQ(ids.size(), 4u);
  EXPECT_EQ(ids, Ids(GoodPlan("# why\nsweep: {grid: {learner.options.lr: [0.001, 5.0e-1], env.options.legs: [2, +3]}}\n")));
  EXPECT_EQ(ids, Ids(GoodPlan("rollout: {num_env_runners: 1}\n" + kGrid)));
  std::vector<std::string> turned =
      Ids(GoodPlan("sweep: {grid: {env.options.legs: [3, 2], learner.options.lr: [0.5, 1.0e-3]}}\n"));
  EXPECT_THAT(turned, ::testing::UnorderedElementsAreArray(ids));
}

TEST_F(PlanIdentityTest, ReasonsChangeNoIdAndReachThePlanFile) {
  const std::string bare = "sweep: {grid: {learner.options.lr: [1, 0.5]}, list: [{name: a, learner.options.lr: 0.1}]}\n";
  const Plan plan = GoodPlan(
      "sweep:\n  grid: {learner.options.lr: {values: [1, 0.5], why: 'the paper has 1'}}\n"
      "  list: [{name: a, why: \"a tenth: 'safe'\", learner.options.lr: 0.1}]\n");
  EXPECT_EQ(Ids(plan), Ids(GoodPlan(bare)));
  EXPECT_EQ(Names(plan), Names(GoodPlan(bare)));
  EXPECT_EQ((std::map<std::string, std::string>{{"learner.options.lr", "the paper has 1"}}), plan.whys);
  const std::vector<PlanLine> lines = PlanLines(plan);
  ASSERT_EQ(3u, lines.size());
  EXPECT_EQ("", lines[0].why);
  EXPECT_EQ("a tenth: 'safe'", lines[2].why);
  EXPECT_EQ(lines[2].why, RecordFromJson<PlanLine>(ToJson<nlohmann::ordered_json>(lines[2])).why);
  const Plan zipped = GoodPlan("sweep: {zip: {z: {learner.options.lr: {values: [1, 0.5], why: steps}}}}\n");
  EXPECT_EQ(zipped.whys.at("learner.options.lr"), "steps");
}

TEST_F(PlanIdentityTest, SeedValueAndPluginBytesChangeEveryId) {
  const std::vector<std::string> ids = Ids(GoodPlan(kGrid));
  const auto none_of_them = [&](const Plan& plan) {
    for (const std::string& id : Ids(plan)) EXPECT_THAT(ids, ::testing::Not(Contains(id)));
  };
  none_of_them(GoodPlan("seed: 1\n" + kGrid));
  none_of_them(GoodPlan("evaluation: {episodes: 1}\n" + kGrid));
  Write("walker.so", "rebuilt");
  none_of_them(GoodPlan(kGrid));
}

TEST_F(PlanIdentityTest, ASingleRunAndAGridPointAreTheSameTrial) {
  const Plan grid = GoodPlan("sweep: {grid: {learner.options.lr: [0.001, 0.5]}}\n");
  const Plan single = GoodPlan("", {}, {"learner.options.lr=0.5"});
  EXPECT_EQ(single.trials[0].id, grid.trials[1].id);
  EXPECT_EQ(single.points[0].id, grid.points[1].id);
  EXPECT_EQ(single.trials[0].id.size(), 16u);
}

TEST_F(PlanIdentityTest, IncludesOmittedKeysOnlyIfTheyAreSwept) {
  EXPECT_EQ(Ids(GoodPlan("rollout: {threads: 1}\n")), Ids(GoodPlan("rollout: {threads: 2}\n")));
  EXPECT_EQ(GoodPlan("sweep: {grid: {rollout.threads: [1, 2]}}\n").points.size(), 2u);
  EXPECT_EQ(GoodPlan("sweep: {grid: {monitors: [[], [plotter]]}}\n").points.size(), 2u);
  EXPECT_EQ(GoodPlan("sweep: {grid: {resources.cpus: [1, auto]}}\n").points.size(), 2u);
  EXPECT_EQ(GoodPlan("sweep: {grid: {checkpoint.every_iterations: [0, 5]}}\n").points.size(), 2u);
  Write("one.yaml", "rollout: {threads: 1}\n");
  Write("two.yaml", "rollout: {threads: 2}\n");
  EXPECT_EQ(GoodPlan("sweep: {files: [one.yaml, two.yaml]}\n").points.size(), 2u);
}

TEST_F(PlanIdentityTest, ADefaultOfThisRunActsLikeAKeyOfTheFile) {
  const Plan on_cpu = GoodPlan(""), on_gpu = GoodPlan("resources: {gpus: 1}\n");
  EXPECT_NE(Ids(on_cpu), Ids(on_gpu));
  defaults_ = {{"resources.gpus", 1.0}};
  const Plan plan = GoodPlan("");
  EXPECT_EQ(Ids(plan), Ids(on_gpu));
  EXPECT_EQ(plan.Load(plan.trials[0]).experiment.resources.gpus, 1);
  EXPECT_EQ(plan.base.experiment.resources.gpus, 1);
}

TEST_F(PlanIdentityTest, AKeyOfTheFileReplacesADefaultOfThisRun) {
  defaults_ = {{"resources.gpus", 1.0}};
  const auto gpus = [](const Plan& plan, size_t trial) { return plan.Load(plan.trials[trial]).experiment.resources.gpus; };
  EXPECT_EQ(gpus(GoodPlan("resources: {gpus: 0}\n"), 0), 0);
  EXPECT_EQ(gpus(GoodPlan("", {}, {"resources.gpus=0.5"}), 0), 0.5);
  EXPECT_EQ(gpus(GoodPlan("sweep: {grid: {resources.gpus: [0, 2]}}\n"), 0), 0);
  EXPECT_EQ(gpus(GoodPlan("sweep: {grid: {resources.gpus: [0, 2]}}\n"), 1), 2);
}

// The ids of plans that differ only in --set budget.iterations.
class PlanBudgetTest : public SweepTest {
 protected:
  bool Extends(const std::string& lines) { return Ids(GoodPlan(lines)) == Ids(GoodPlan(lines, {}, {"budget.iterations=7"})); }
  static std::vector<std::optional<uint64_t>> Budgets(const Plan& plan) {
    std::vector<std::optional<uint64_t>> budgets;
    for (const PlanLine& line : PlanLines(plan)) budgets.push_back(line.budget ? line.budget->iterations : std::nullopt);
    return budgets;
  }
  Plan Annealed(const std::vector<std::string>& set, const std::string& lines = "") {
    PlanResult result = PlanText(
        "experiment: first\nenv: {plugin: walker}\nlearner: {plugin: annealer}\nbudget: {iterations: 3}\n" + lines, {}, set);
    for (const Diagnostic& d : result.errors) ADD_FAILURE() << Format(d);
    return result.plan.value_or(Plan{});
  }
};

TEST_F(PlanBudgetTest, ALargerBudgetKeepsTheIds) {
  EXPECT_TRUE(Extends(""));
  EXPECT_TRUE(Extends(kGrid));
  EXPECT_FALSE(Extends("sweep: {grid: {budget.env_steps: [100, 200]}}\n")) << "a limit is swept";
  EXPECT_FALSE(Extends("stages: [{name: low}, {name: high, learner.options.lr: 0.5}]\n"));
  EXPECT_FALSE(Extends("report: {kind: comparison, timing: true}\n"));
  EXPECT_TRUE(Extends("report: {kind: comparison}\n"));
}

TEST_F(PlanBudgetTest, ALimitOfOtherPointsKeepsAPointExtensible) {
  const std::string list = "sweep: {list: [{name: baseline, budget.env_steps: 100}, {name: trained}]}\n";
  const std::vector<std::string> small = Ids(GoodPlan(list)), large = Ids(GoodPlan(list, {}, {"budget.iterations=7"}));
  EXPECT_NE(small.at(0), large.at(0));
  EXPECT_EQ(small.at(1), large.at(1));
}

TEST_F(PlanBudgetTest, APointOfAFileWithABudgetKeepsIt) {
  Write("one.yaml", "budget: {iterations: 3}\n");
  Write("two.yaml", "learner: {options: {lr: 0.5}}\n");
  EXPECT_FALSE(Extends("sweep: {files: [one.yaml, two.yaml]}\n"));
}

TEST_F(PlanBudgetTest, SweptValuesThatReadTheBudgetDecidePerPoint) {
  const std::string grid =
      "sweep: {grid: {learner.options.schedule: [constant, linear], learner.options.lr: [0.1, 0.2, 0.3]}}\n";
  const Plan small = Annealed({}, grid), large = Annealed({"budget.iterations=7"}, grid);
  ASSERT_EQ(small.points.size(), 6u);
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(small.points[i].id == large.points[i].id, i < 3) << small.points[i].name;
    EXPECT_EQ(small.trials[i].id, IdOf(small.Identity(small.trials[i]))) << "each point by itself";
  }
}

TEST_F(PlanBudgetTest, LinesHaveBudgetsThatMayChange) {
  EXPECT_EQ(Budgets(GoodPlan("")), (std::vector<std::optional<uint64_t>>{3}));
  EXPECT_EQ(Budgets(GoodPlan("sweep: {grid: {budget.iterations: [1, 2]}}\n")),
            (std::vector<std::optional<uint64_t>>{std::nullopt, std::nullopt}));
  EXPECT_EQ(Budgets(GoodPlan("sweep: {grid: {max_iterations: [1, 2]}}\n")).at(0), std::nullopt) << "by another name";
  const std::vector<PlanLine> lines = PlanLines(GoodPlan(""));
  EXPECT_EQ(RecordFromJson<PlanLine>(ToJson<nlohmann::ordered_json>(lines[0])).budget, lines[0].budget);
}

TEST_F(PlanBudgetTest, SchemaTwoKeepsItsIds) {
  PlanOptions options{{}, {}, Lookup()};
  options.schema = 2;
  const PlanResult two = MakePlan(Write("two.yaml", kMinimal), options);
  options.set = {"budget.iterations=7"};
  const PlanResult larger = MakePlan(Write("two.yaml", kMinimal), options);
  EXPECT_NE(Ids(*two.plan), Ids(*larger.plan));
  EXPECT_EQ(Budgets(*two.plan), (std::vector<std::optional<uint64_t>>{std::nullopt}));
  EXPECT_EQ(two.plan->Identity(two.plan->trials[0])["point"]["schema"], 2);
}

TEST_F(PlanBudgetTest, AKeptScheduleExtendsTheTrial) {
  const Plan before = Annealed({}), longer = Annealed({"budget.iterations=7"});
  EXPECT_NE(Ids(before), Ids(longer)) << "its schedule reads the budget";
  const Plan kept = Annealed({"budget.iterations=7", "schedule_budget={\"iterations\":3}"});
  EXPECT_EQ(Ids(before), Ids(kept));
  EXPECT_EQ(Budgets(kept), (std::vector<std::optional<uint64_t>>{7}));
  EXPECT_EQ(PlanLines(kept)[0].schedule_budget, (Budget{.iterations = 3}));
  EXPECT_EQ(kept.Load(kept.trials[0]).experiment.schedule_budget, (nlohmann::json{{"iterations", 3}}));
}

TEST_F(PlanBudgetTest, RejectsSchedulesThatReadNoBudget) {
  EXPECT_THAT(PlanErrors("schedule_budget: {iterations: 3}\n"),
              ::testing::ElementsAre(::testing::HasSubstr("expected a learner with schedules that read the budget, got none")));
  for (const char* wrong : {"{steps: 3}", "{}", "3", "{iterations: many}"})
    EXPECT_THAT(PlanErrors(std::string("schedule_budget: ") + wrong + "\n"),
                ::testing::ElementsAre(::testing::HasSubstr("schedule_budget: ")))
        << wrong;
}

TEST_F(PlanIdentityTest, TwoBuildsOfOnePluginAreTwoPoints) {
  Write("old/walker.so", "old");
  EXPECT_EQ(GoodPlan("sweep: {grid: {env.plugin: [walker, ./old/walker.so]}}\n").points.size(), 2u);
}

TEST_F(PlanIdentityTest, TheIdIsTheHashOfThePrintedIdentity) {
  const Plan plan = GoodPlan(kGrid);
  const nlohmann::json identity = plan.Identity(plan.trials[2]);
  EXPECT_EQ(identity["seed"], 0);
  EXPECT_EQ(identity["point"]["learner"]["options"]["lr"], 0.5);
  EXPECT_EQ(identity["point"]["device"], "cpu");
  EXPECT_EQ(identity["files"], nlohmann::json(plan.trials[2].files));
  EXPECT_EQ(plan.trials[2].id, IdOf(identity));
}

}  // namespace
}  // namespace backplane
