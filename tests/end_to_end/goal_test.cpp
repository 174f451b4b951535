// Trials that end once their evaluations reach a goal (budget.until), and comparisons by their env steps until then.
#include <gmock/gmock.h>
#include <signal.h>

#include <sstream>

#include "batch.hpp"

namespace backplane::end_to_end {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// Without the line breaks of a terminal.
std::string InOneLine(const std::string& text) {
  std::istringstream words(text);
  std::string line, word;
  while (words >> word) line += (line.empty() ? "" : " ") + word;
  return line;
}

class GoalOfTrial : public BatchTest {
 protected:
  // A policy that acts at random earns about 20.
  static std::string Text(const std::string& name, const std::string& until, const std::string& more = "") {
    return "experiment: " + name + R"(
env: {plugin: cartpole}
learner: {plugin: random, options: {horizon: 16}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 4}
evaluation: {episodes: 4, every_iterations: 2}
monitors: []
budget: {iterations: 12, until: )" +
           until + "}\n" + more;
  }
};

TEST_F(GoalOfTrial, EndsItAtTheEvaluationThatCompletesTheRow) {
  Write("good.yaml", Text("good", "{eval/return: 2, for: 3}"));
  const Finished run = Run("run good.yaml");
  ASSERT_EQ(run.exit, 0) << run.err;
  const std::string sentence = "reached eval/return 2 after 384 env steps (3 evaluations in a row)";
  EXPECT_THAT(run.out, HasSubstr(sentence));
  EXPECT_EQ(Metrics("good").back()["iteration"], 6) << "evaluated after iterations 2, 4 and 6";
  const json result = Result("good");
  EXPECT_EQ(result["state"], "COMPLETED");
  EXPECT_EQ(result["until"], json({{"metric", "eval/return"},
                                   {"value", 2.0},
                                   {"for", 3},
                                   {"direction", 1},
                                   {"reached", true},
                                   {"iteration", 6},
                                   {"env_steps", 384}}));
  EXPECT_THAT(ReadFile(Out("good") / "events.jsonl"), HasSubstr(sentence));
  EXPECT_THAT(Run("status outputs/good").out, HasSubstr(sentence.substr(0, 40)));
  EXPECT_THAT(InOneLine(Run("report outputs/good").out), HasSubstr(sentence));
}

TEST_F(GoalOfTrial, IsNeverReachedInTheBudget) {
  Write("bad.yaml", Text("bad", "{eval/return: 1000}"));
  const Finished run = Run("run bad.yaml");
  ASSERT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("never reached eval/return 1000 in 768 env steps"));
  EXPECT_EQ(Result("bad")["until"]["reached"], false);
  EXPECT_EQ(Metrics("bad").back()["iteration"], 12);
}

TEST_F(GoalOfTrial, NeedsAMetricThatEvaluationsRecord) {
  Write("odd.yaml", Text("odd", "{eval/retrun: 5}"));
  const Finished run = Run("run odd.yaml");
  EXPECT_EQ(run.exit, 2);
  EXPECT_THAT(run.err,
              HasSubstr("budget.until: expected a metric that evaluations of env.cartpole record, got 'eval/retrun'; did "
                        "you mean 'eval/return'?"));
}

// The second attempt counts the evaluations of the first one.
TEST_F(GoalOfTrial, SurvivesAKillAndAStop) {
  const auto text = [](const std::string& name) {
    return "experiment: " + name + R"(
env: {plugin: misbehaves}
learner: {plugin: ppo, options: {train_batch_size: 64, minibatch_size: 32, num_epochs: 1, hidden: [8]}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 4}
budget: {iterations: 100, until: {eval/length: 1, for: 8}}
evaluation: {episodes: 20, every_iterations: 1, env: {options: {sleep_us: 1000}}}
checkpoint: {every_iterations: 1}
monitors: []
)";
  };
  Write("killed.yaml", text("killed"));
  const pid_t killed = Start("run killed.yaml" + kWithFixtures);
  ASSERT_TRUE(Until([&] { return Metrics("killed").size() >= 2; })) << ErrorsOf(killed);  // one checkpoint is whole
  for (const pid_t trial : TrialProcesses()) kill(trial, SIGKILL);
  const Finished first = Wait(killed);
  EXPECT_EQ(first.exit, 0) << first.err;

  Write("stopped.yaml", text("stopped"));
  const pid_t stopped = Start("run stopped.yaml" + kWithFixtures);
  ASSERT_TRUE(Until([&] { return Metrics("stopped").size() >= 2; })) << ErrorsOf(stopped);
  kill(stopped, SIGINT);
  EXPECT_EQ(Wait(stopped).exit, 130);
  EXPECT_EQ(Run("run stopped.yaml" + kWithFixtures).exit, 0);

  for (const char* name : {"killed", "stopped"}) {
    const json result = json::parse(ReadFile(Attempt(name, 2) / "result.json"));
    EXPECT_EQ(result["until"]["reached"], true) << name;
    EXPECT_EQ(result["until"]["iteration"], 8) << name;
    EXPECT_EQ(Metrics(name, 2).back()["iteration"], 8) << name;
    EXPECT_LT(Metrics(name, 2).size(), 8u) << name << " did not resume";
  }
}

// Two arms that differ in the steps of an iteration, so the second needs twice as many per evaluation.
TEST_F(GoalOfTrial, ComparesArmsByTheirSteps) {
  Write("arms.yaml",
        Text("arms", "{eval/return: 2, for: 2}",
             "compare:\n  arms: [{name: short}, {name: long, learner.options.horizon: 32}]\n  looks: {n: 5, max: 1}\n"));
  const Finished compare = Run("compare arms.yaml");
  ASSERT_EQ(compare.exit, 0) << compare.err << compare.out;
  // By hand: two evaluations are after four iterations of 64 and 128 steps, on every seed.
  EXPECT_THAT(compare.out, HasSubstr("short reaches eval/return 2 sooner than long: 256"));
  EXPECT_THAT(InOneLine(compare.out), HasSubstr("against 512"));
  Write("biased.yaml",
        Text("biased", "{eval/return: 2, for: 2}",
             "compare:\n  arms: [{name: short}, {name: long, learner.options.horizon: 32}]\n  metric: eval/return\n"));
  const Finished biased = Run("compare biased.yaml");
  EXPECT_EQ(biased.exit, 2);
  EXPECT_THAT(biased.err,
              HasSubstr("biased.yaml:10:3: error: compare.metric: expected steps_to(eval/return, 2), got eval/return"));
}

TEST_F(GoalOfTrial, GatesCountItsSteps) {
  Write("gated.yaml", Text("gated", "{eval/return: 2, for: 2}", "sweep: {seeds: {n: 10}}\n"));
  ASSERT_EQ(Run("run gated.yaml").exit, 0);
  const Finished save = Run("gate save outputs/gated --to base.json");
  ASSERT_EQ(save.exit, 0) << save.err;
  EXPECT_THAT(save.out, HasSubstr("--fail-if 'steps_to(eval/return, 2) > 5%'"));
  const Finished refused = Run("gate base.json gated.yaml --fail-if 'eval/return < -5%'");
  EXPECT_EQ(refused.exit, 2);
  EXPECT_THAT(refused.err, HasSubstr("expected steps_to(eval/return, 2), got eval/return: trials end when they reach"));
  const Finished gate = Run("gate base.json outputs/gated --fail-if 'steps_to(eval/return, 2) > 5%'");
  EXPECT_THAT(gate.out, HasSubstr("steps_to(eval/return, 2)")) << gate.err;
  EXPECT_NE(gate.exit, 2) << gate.err;
}

}  // namespace
}  // namespace backplane::end_to_end
