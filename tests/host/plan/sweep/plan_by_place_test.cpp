// Points are planned by place (config/point_form.hpp): values are inserted into the common part of all points. Every point
// equals the whole file with these values, read as usual.
#include "sweep/identity.hpp"
#include "sweep_fixture.hpp"

namespace backplane {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class PlanByPlaceTest : public SweepTest {
 protected:
  PlanByPlaceTest() {
    OptionInfo rows = Option("batch", BP_PARAM_I64, {}, "[1,64]");
    rows.aliases = {"rollout.num_envs_per_env_runner"};
    plugins_["climber"].options.push_back(rows);
    OptionInfo limit = Option("memory_mb", BP_PARAM_I64, {});
    limit.aliases = {"resources.memory"};
    limit.unit = "MB";
    plugins_["climber"].options.push_back(limit);
    OptionInfo later = Option("later", BP_PARAM_I64, "0");
    later.flags = BP_PARAM_LATER;
    plugins_["climber"].options.push_back(later);
    OptionInfo corpus = Option("corpus", BP_PARAM_PATH, "");
    corpus.flags = BP_PARAM_DATA;
    plugins_["climber"].options.push_back(corpus);
    Write("a.txt", "a");
    Write("b.txt", "b");
  }

  // The id of the only trial of a file.
  std::string IdOfText(const std::string& text) {
    const PlanResult result = PlanText(text);
    for (const Diagnostic& d : result.errors) ADD_FAILURE() << Format(d);
    return result.plan && result.plan->trials.size() == 1 ? result.plan->trials[0].id : "no single trial";
  }
};

TEST_F(PlanByPlaceTest, APointOfAGridIsTheFileWrittenByHand) {
  const Plan plan = GoodPlan(
      "sweep:\n"
      "  grid:\n"
      "    learner.options.lr: [0.5, 1.0e-3]\n"
      "    env.options.legs: [2, 3]\n"
      "    rollout.num_envs_per_env_runner: [1, 40]\n");
  std::vector<std::string> by_hand;
  for (const char* lr : {"0.5", "0.001"})
    for (const char* legs : {"2", "3"})
      for (const char* rows : {"1", "40"})
        by_hand.push_back(IdOfText(std::string("experiment: first\nenv: {plugin: walker, options: {legs: ") + legs +
                                   "}}\nlearner: {plugin: climber, options: {lr: " + lr +
                                   "}}\nbudget: {iterations: 3}\nrollout: {num_envs_per_env_runner: " + rows + "}\n"));
  EXPECT_EQ(Ids(plan), by_hand);
}

TEST_F(PlanByPlaceTest, StepsOfAZipEqualTheFileUnderEveryName) {
  schema_ = 2;  // so that the budget can be compared
  const Plan plan = GoodPlan(
      "evaluation: {episodes: 2}\n"
      "sweep:\n"
      "  zip:\n"
      "    arch:\n"
      "      learner.options.hidden: [[8], [16, 16], [8]]\n"
      "      learner.options.alpha: [0.25, 0.125, 0.125]\n"  // an alias of lr
      "      learner.options.norm: [false, true, false]\n"
      "      learner.options.device: [cuda, cpu, cpu]\n"
      "      learner.options.corpus: [a.txt, b.txt, b.txt]\n"
      "      learner.options.num_workers: [2, 3, 3]\n"  // an alias of rollout.num_env_runners
      "      evaluation.env.options.reward: [2.5, 3.5, 4.5]\n"
      "      budget.wall_time: [90s, 1h, 2h]\n"
      "      rollout.chunk_rows: [auto, 2, 1]\n");
  const auto by_hand = [&](const std::string& reward, const std::string& options, const std::string& runners,
                           const std::string& time, const std::string& rows) {
    return IdOfText("experiment: first\nenv: {plugin: walker}\nlearner: {plugin: climber, options: {" + options +
                    "}}\nbudget: {iterations: 3, wall_time: " + time + "}\nevaluation: {episodes: 2, env: {options: {reward: " +
                    reward + "}}}\nrollout: {num_env_runners: " + runners + ", chunk_rows: " + rows + "}\n");
  };
  EXPECT_THAT(Ids(plan),
              ElementsAre(by_hand("2.5", "hidden: [8], lr: 0.25, norm: false, device: cuda, corpus: a.txt", "2", "90s", "auto"),
                          by_hand("3.5", "hidden: [16, 16], lr: 0.125, corpus: b.txt", "3", "1h", "2"),
                          by_hand("4.5", "hidden: [8], lr: 0.125, norm: false, corpus: b.txt", "3", "2h", "1")));
  EXPECT_NE(plan.trials[0].files, plan.trials[1].files) << "each point names its own file";
  EXPECT_EQ(plan.trials[1].files, plan.trials[2].files);
}

TEST_F(PlanByPlaceTest, FilesArePerPointNextToANewerOption) {
  const Plan plan = GoodPlan("sweep: {grid: {learner.options.later: [1, 2], learner.options.corpus: [a.txt, b.txt]}}\n");
  ASSERT_EQ(plan.trials.size(), 4u);
  EXPECT_NE(plan.trials[0].files, plan.trials[1].files);
}

TEST_F(PlanByPlaceTest, TheIdIncludesSweptKeysThatTheTextOmits) {
  const Plan plan = GoodPlan("sweep: {grid: {rollout.threads: [1, 2, auto], learner.options.later: [0, 1]}}\n");
  EXPECT_EQ(plan.points.size(), 6u);
  for (const PlannedTrial& trial : plan.trials) EXPECT_EQ(trial.id, IdOf(plan.Identity(trial)));
  EXPECT_EQ(plan.Identity(plan.trials[3])["point"]["swept"]["rollout.threads"], 2);
}

// `Identity` and `LoadPoint` read the whole file with the point's values.
TEST_F(PlanByPlaceTest, EveryPointEqualsAReadOfTheWholeFile) {
  const std::vector<std::string> sweeps = {
      "sweep: {grid: {learner: [{plugin: climber}, {plugin: hopper}, {plugin: climber, options: {epochs: 3}}], "
      "env.options.reward: [1, 2, 3]}}\n",
      "sweep: {grid: {learner: [climber, hopper], learner.options.lr: {values: [0.1, 0.2], when: \"learner.plugin == "
      "'climber'\"}, "
      "env.options.legs: [1, 2]}}\n",
      "sweep: {grid: {learner.options.micro: [1, 2, 3, 4, 8]}, derive: {learner.options.accum: \"8 / learner.options.micro\"}, "
      "where: [\"learner.options.accum < 8\"]}\n",
      "sweep: {list: [{name: a, learner.options.lr: 0.1}, {learner.options.lr: 0.2}, {env.options.legs: 2}, "
      "{learner.options.lr: 0.3}]}\n",
      "sweep: {random: {trials: 20, seed: 3, space: {learner.options.lr: {log_uniform: [1.0e-4, 1]}, "
      "learner.options.epochs: {int: [1, 9]}}}}\n",
      "stages: [{name: one, learner.options.lr: 0.5}, {name: two, learner.options.epochs: 4}]\n"
      "sweep: {grid: {env.options.legs: [2, 3], stages.two.learner.options.lr: [0.1, 0.2]}, seeds: {n: 2}}\n",
      "sweep: {grid: {resources.cpus: [1, auto], resources.memory: [1GiB, 2GB], resources.gpus: [0, 1]}}\n",
      "sweep: {grid: {learner.options.memory_mb: [100, 200], budget.wall_time: [30s, 1m]}}\n",
      "sweep: {grid: {learner.options.note: ['1', b, \"\\u0001\"], learner.options.grad_clip: [0.5, null, 1]}}\n",
      "random_seed: 3\nsweep: {grid: {learner.options: [{lr: 0.5}, {epochs: 2}], env.options.legs: [2, 3]}}\n",
  };
  for (const std::string& lines : sweeps) {
    const PlanResult result = PlanText(kMinimal + lines);
    for (const Diagnostic& d : result.errors) ADD_FAILURE() << lines << Format(d);
    if (!result.plan) continue;
    const Plan& plan = *result.plan;
    EXPECT_GT(plan.points.size(), 1u);
    for (const PlannedTrial& trial : plan.trials) {
      EXPECT_EQ(trial.id, IdOf(plan.Identity(trial))) << lines << plan.points[trial.point].name;
      EXPECT_EQ(ToJson(plan.ExperimentOf(trial.point)), ToJson(plan.LoadPoint(trial.point).experiment)) << lines;
    }
    for (const auto& [path, value] : plan.points.back().values) EXPECT_EQ(ValuesAt(plan, path).back(), value);
  }
}

// Errors come from a read of the whole file, with their places.
TEST_F(PlanByPlaceTest, AnErrorInTheMiddleEqualsAReadOfTheWholeFile) {
  EXPECT_THAT(PlanErrors("sweep: {grid: {learner.options.lr: [0.1, 2.0, 0.3]}}\n"),
              ElementsAre("5:42 learner.options.lr: 2.0 is out of range (0,1]"));
  EXPECT_THAT(
      PlanErrors("rollout: {num_env_runners: 65536}\nsweep: {grid: {rollout.num_envs_per_env_runner: [1, 2, 64, 1024]}}\n"),
      ElementsAre(HasSubstr("the limit is 16"), HasSubstr("1024 is out of range [1,64]")));
  EXPECT_THAT(PlanErrors("sweep: {grid: {rollout.num_envs_per_env_runner: [1, 64, 65]}}\n"),
              ElementsAre(HasSubstr("rollout.num_envs_per_env_runner: 65 is out of range [1,64] of learner.climber's option")));
  EXPECT_THAT(PlanErrors("sweep: {grid: {learner.options.epochs: [1, 2, x]}}\n"),
              ElementsAre("5:47 learner.options.epochs: expected an integer, got 'x'"));
}

}  // namespace
}  // namespace backplane
