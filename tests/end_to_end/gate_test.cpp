// `gate`: tests whether a change made a metric worse than a limit allows.
#include <gmock/gmock.h>
#include <signal.h>

#include "batch.hpp"

namespace backplane::end_to_end {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

// The pole falls after 9 to 10 steps with zero actions, and after about 22 with uniform ones.
constexpr char kUniform[] = R"(experiment: pole
env: {plugin: cartpole}
learner: {plugin: random}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 4}
budget: {iterations: 4}
evaluation: {episodes: 10}
monitors: []
sweep: {seeds: {n: 10}}
)";
// Equally good but not identical: a score is the mean of one more episode.
constexpr char kAlike[] = "base: pole.yaml\nevaluation: {episodes: 11}\n";
constexpr char kZero[] = "base: pole.yaml\nlearner: {plugin: random, options: {policy: zero}}\n";

class GateCommand : public BatchTest {
 protected:
  void SaveBaseline() {
    Write("pole.yaml", kUniform);
    Write("zero.yaml", kZero);
    Write("alike.yaml", kAlike);
    ASSERT_EQ(Run("run pole.yaml --quiet").exit, 0);
    const Finished save = Run("gate save outputs/pole --to kept/base.json");
    ASSERT_EQ(save.exit, 0) << save.err;
    EXPECT_THAT(save.out,
                AllOf(StartsWith("kept/base.json: baseline of 10 seeds of pole, its plugin files in kept/base.plugins"),
                      HasSubstr("gate kept/base.json pole.yaml --fail-if")));
  }
  Finished Gate(const std::string& rest) { return Run("gate kept/base.json " + rest); }
  size_t Starts(const std::string& experiment) const {
    size_t starts = 0;
    for (const nlohmann::json& event : Events(experiment)) starts += event.value("kind", "") == "attempt.start" ? 1 : 0;
    return starts;
  }
};

TEST_F(GateCommand, ALossFailsAtTheFirstConclusiveLook) {
  SaveBaseline();
  const Finished gate = Gate("zero.yaml --fail-if 'eval/return < -5%'");
  EXPECT_EQ(gate.exit, 1) << gate.err;
  EXPECT_THAT(gate.out, AllOf(StartsWith("FAIL: the change of eval/return is below -5 %. Change -"), HasSubstr("look 1 of 2"),
                              HasSubstr("outputs/pole_gate")));
  EXPECT_EQ(Starts("pole_gate"), 5u) << "the seeds of one look";
  // No trial is left to run, and the verdict is the same.
  const Finished again = Gate("zero.yaml --fail-if 'eval/return < -5%' --quiet");
  EXPECT_EQ(again.exit, 1);
  EXPECT_THAT(again.out, StartsWith("FAIL: the change of eval/return is below -5 %. Change -"));
  EXPECT_EQ(Starts("pole_gate"), 5u);
  // With `>`, only an increase fails; a decrease passes.
  EXPECT_EQ(Gate("zero.yaml --quiet --fail-if 'eval/length > 5%'").exit, 0);
}

TEST_F(GateCommand, FindsNoChangeBetweenIdenticalBits) {
  SaveBaseline();
  const Finished pass = Gate("pole.yaml --fail-if 'eval/return < 0%'");
  EXPECT_EQ(pass.exit, 0) << pass.err;
  EXPECT_THAT(pass.out,
              AllOf(StartsWith("PASS: eval/return has not changed: all 5 seeds"), HasSubstr("look 1 of 2: further seeds")));
  const Finished wants_more = Gate("pole.yaml --quiet --fail-if 'eval/return < 5%'");
  EXPECT_EQ(wants_more.exit, 1) << wants_more.err;
  EXPECT_THAT(wants_more.out, StartsWith("FAIL: eval/return has not changed"));
  EXPECT_EQ(Starts("pole_gate"), 5u);
}

TEST_F(GateCommand, PassesSimilarResultsUntilTheLimitIsTight) {
  SaveBaseline();
  const Finished pass = Gate("alike.yaml --json --fail-if 'eval/return < -50%'");
  ASSERT_EQ(pass.exit, 0) << pass.err;
  const auto answer = nlohmann::json::parse(pass.out);
  EXPECT_EQ(answer["verdict"], "pass");
  EXPECT_EQ(answer["exit"], 0);
  EXPECT_EQ(answer["conditions"][0]["condition"], "eval/return < -50%");
  EXPECT_NEAR(answer["conditions"][0]["change_pct"], 0, 10);
  EXPECT_NEAR(answer["conditions"][0]["level_pct"], 90, 1e-9);
  EXPECT_EQ(answer["results"][0], "outputs/pole_gate");
  const Finished undecided = Gate("alike.yaml --quiet --fail-if 'eval/return < 0%'");
  EXPECT_EQ(undecided.exit, 4) << undecided.err;
  EXPECT_THAT(undecided.out, AllOf(StartsWith("UNDECIDED: neither a pass nor a failure, because the change of eval/return is "
                                              "not shown to be on one side of 0 %."),
                                   HasSubstr("10 seeds each, after all 2 planned looks")));
  EXPECT_EQ(Starts("pole_gate"), 10u) << "no more seeds than the baseline has";
}

TEST_F(GateCommand, ResultsAreJudgedOnceAndTheWorstConditionLeads) {
  SaveBaseline();
  Write("few.yaml", std::string(kZero) + "experiment: few\nsweep: {seeds: {n: 6}}\n");
  ASSERT_EQ(Run("run few.yaml --quiet").exit, 0);
  const Finished gate = Gate("outputs/few --fail-if 'env_steps < -50%' --fail-if 'eval/return < -5%'");
  EXPECT_EQ(gate.exit, 1) << gate.err;
  EXPECT_THAT(gate.out, AllOf(StartsWith("FAIL: the change of eval/return"), HasSubstr("PASS: the change of env_steps"),
                              HasSubstr("10 and 6 seeds"), HasSubstr("ran with different seeds"),
                              HasSubstr("Each of 2 conditions is judged at 2.5 %")));
  // Three seeds can fail against 10. One seed has no spread and is invalid.
  Write("three.yaml", std::string(kZero) + "experiment: three\nsweep: {seeds: {n: 3}}\n");
  ASSERT_EQ(Run("run three.yaml --quiet").exit, 0);
  const Finished three = Gate("outputs/three --fail-if 'eval/return < -5%'");
  EXPECT_EQ(three.exit, 1) << three.out;
  EXPECT_THAT(three.out, StartsWith("FAIL: the change of eval/return is below -5 %."));
  Write("one.yaml", std::string(kZero) + "experiment: one\nsweep: {seeds: {n: 1}}\n");
  ASSERT_EQ(Run("run one.yaml --quiet").exit, 0);
  EXPECT_THAT(Gate("outputs/one --quiet --fail-if 'eval/return < -5%'").out,
              StartsWith("INVALID: 1 seed against 10 of the baseline can never show a change at 5 %; use 2 or more."));
  const Finished speed = Gate("outputs/few --fail-if 'SPS < -5%'");
  EXPECT_EQ(speed.exit, 2);
  EXPECT_THAT(speed.err, HasSubstr("to judge a speed, baseline and experiment run in turn"));
  Write("longer.yaml", std::string(kZero) + "experiment: longer\nbudget: {iterations: 5}\n");
  ASSERT_EQ(Run("run longer.yaml --quiet").exit, 0);
  const Finished invalid = Gate("outputs/longer --fail-if 'eval/return < -5%'");
  EXPECT_EQ(invalid.exit, 2);
  EXPECT_THAT(invalid.out, StartsWith("INVALID: The arms have unequal budgets: baseline has"));
}

TEST_F(GateCommand, BothSidesOfASpeedAreRunInTurn) {
  SaveBaseline();
  // A hundredth of the steps in as many calls, so it is much slower on any machine.
  Write("slow.yaml", "base: pole.yaml\nrollout: {num_envs_per_env_runner: 1}\n");
  const Finished gate = Gate("slow.yaml --json --fail-if 'sampling_sps > 1000%' --fail-if 'wall_s < -99%'");
  EXPECT_THAT(gate.exit, testing::AnyOf(0, 4)) << gate.err << gate.out;
  const auto answer = nlohmann::json::parse(gate.out);
  EXPECT_EQ(answer["results"][0], "outputs/pole_gate_speed");
  // Both conditions judge the same runs, each with its own measure and interval level.
  EXPECT_THAT(answer["conditions"][0]["sentence"], HasSubstr("the change of sampling_sps"));
  EXPECT_THAT(answer["conditions"][1]["sentence"], HasSubstr("the change of wall_s"));
  if (answer["conditions"][0]["n"] > 1) {  // on a machine that is always busy, no block counts
    EXPECT_THAT(answer["conditions"][0]["sentence"], AllOf(HasSubstr(" 1/s, now "), HasSubstr(" (95 % interval ")));
    EXPECT_THAT(answer["conditions"][1]["sentence"], AllOf(HasSubstr(" s, now "), HasSubstr(" (95 % interval ")));
  }
  EXPECT_THAT(answer["notes"].dump(), HasSubstr("a block is discarded only if threads of its own trials waited for a core"))
      << "monitors: []";
  std::vector<std::string> arms;
  for (const nlohmann::json& line : Lines(Out("pole_gate_speed") / "plan.jsonl")) arms.push_back(line["name"]);
  ASSERT_GE(arms.size(), 20u);
  EXPECT_THAT(std::vector<std::string>(arms.begin(), arms.begin() + 4),
              testing::ElementsAre("baseline", "slow", "slow", "baseline"));
  std::ofstream(dir_ / "kept/base.plugins/env_cartpole.so", std::ios::app) << "a different build";
  const Finished other = Gate("slow.yaml --fail-if 'SPS < -5%'");
  EXPECT_EQ(other.exit, 2);
  EXPECT_THAT(other.err, HasSubstr("kept/base.plugins: expected the baseline's env.plugin"));
  ASSERT_EQ(Run("gate save outputs/pole --to kept/base.json --no-plugins").exit, 0);
  EXPECT_FALSE(std::filesystem::exists(dir_ / "kept/base.plugins"));
  const Finished without = Gate("slow.yaml --fail-if 'SPS < -5%'");
  EXPECT_EQ(without.exit, 2);
  EXPECT_THAT(without.err, HasSubstr("SPS needs the plugin files of the baseline"));
}

TEST_F(GateCommand, AKillInTheMiddleLosesNoTrial) {
  SaveBaseline();
  const std::string rest = "alike.yaml --fail-if 'eval/return < 0%' --out ";
  const Finished calm = Gate(rest + "outputs/calm");
  ASSERT_EQ(calm.exit, 4) << calm.err;
  EXPECT_THAT(calm.out, StartsWith("UNDECIDED: ")) << "the verdict is the first line";
  EXPECT_THAT(calm.err, HasSubstr("not known yet: neither a pass nor a failure, because the change of eval/return is not"));
  const pid_t pid = Start("gate kept/base.json " + rest + "outputs/killed");
  ASSERT_TRUE(Until([&] { return Starts("killed") >= 7; })) << ErrorsOf(pid);
  kill(pid, SIGKILL);
  Wait(pid);
  const std::string plan = ReadFile(Out("killed") / "plan.jsonl");
  const Finished run = Run("run outputs/killed");
  EXPECT_EQ(run.exit, 2) << run.out;
  EXPECT_THAT(run.err, AllOf(HasSubstr("these results belong to a different command"),
                             HasSubstr("gate kept/base.json alike.yaml --fail-if")));
  EXPECT_EQ(ReadFile(Out("killed") / "plan.jsonl"), plan) << "it was not created again";
  EXPECT_THAT(Run("report outputs/killed").out, HasSubstr("gate kept/base.json alike.yaml --fail-if"));
  const Finished again = Gate(rest + "outputs/killed");
  EXPECT_EQ(again.exit, 4) << again.err;
  const auto sentence = [](const std::string& out) {
    const size_t last = out.rfind("UNDECIDED");
    return out.substr(last, out.find("  results:") - last);
  };
  EXPECT_EQ(sentence(again.out), sentence(calm.out));
}

TEST_F(GateCommand, ReportsTheFlawOfABadBaseline) {
  SaveBaseline();
  const std::string condition = " pole.yaml --fail-if 'return < 0%'";
  EXPECT_THAT(Run("gate none.json" + condition).err, HasSubstr("none.json: does not exist; expected a baseline"));
  Write("torn.json", ReadFile(dir_ / "kept/base.json").substr(0, 500));
  EXPECT_THAT(Run("gate torn.json" + condition).err, HasSubstr("torn.json: is not a JSON object"));
  nlohmann::json kept = nlohmann::json::parse(ReadFile(dir_ / "kept/base.json"));
  kept["trials"][3]["seed"] = "three";
  Write("wrong.json", kept.dump());
  EXPECT_THAT(Run("gate wrong.json" + condition).err,
              HasSubstr("wrong.json: \"trials[3].seed\": expected a whole number from 0 on, got \"three\""));
  Write("few.yaml", "base: pole.yaml\nexperiment: few\nsweep: {seeds: {n: 3}}\n");
  ASSERT_EQ(Run("run few.yaml --quiet").exit, 0);
  const Finished few = Run("gate save outputs/few --to few.json");
  EXPECT_EQ(few.exit, 2);
  EXPECT_THAT(few.err, HasSubstr("expected 10 seeds or more, got 3\nhint: `sweep: {seeds: {n: 25}}`"));
  EXPECT_FALSE(std::filesystem::exists(dir_ / "few.json"));
}

TEST_F(GateCommand, GatesACommandWithoutEnv) {
  Write("echo.yaml", R"yaml(experiment: echo
learner:
  command: [sh, -c, "echo loss=$(( 100 + {seed} % 7 + {more} ))"]
  options: {more: 0}
  metrics: {loss: "loss=([0-9.]+)"}
sweep: {seeds: {n: 10}}
)yaml");
  ASSERT_EQ(Run("run echo.yaml --quiet").exit, 0);
  const Finished save = Run("gate save outputs/echo --to echo.json");
  ASSERT_EQ(save.exit, 0) << save.err;
  EXPECT_THAT(save.out, AllOf(HasSubstr("without plugin files"), HasSubstr("The standard deviation of loss between seeds"),
                              HasSubstr("gate echo.json echo.yaml --fail-if 'loss > 5%'")));
  const std::string gate = "gate echo.json echo.yaml --quiet --fail-if 'loss > 5%'";
  const Finished same = Run(gate);
  EXPECT_EQ(same.exit, 0) << same.err;
  EXPECT_THAT(same.out, StartsWith("PASS: loss has not changed"));
  const Finished worse = Run(gate + " --set learner.options.more=50 --out outputs/worse");
  EXPECT_EQ(worse.exit, 1) << worse.err;
  EXPECT_THAT(worse.out, StartsWith("FAIL: the change of loss is above 5 %."));
  EXPECT_EQ(Run("gate echo.json outputs/worse --quiet --fail-if 'loss > 5%'").exit, 1);
  EXPECT_EQ(Run(gate + " --set 'learner.command=[\"false\"]' --out outputs/fails").exit, 2);
  const Finished speed = Run("gate echo.json echo.yaml --fail-if 'wall_s > 5%'");
  EXPECT_EQ(speed.exit, 2);
  EXPECT_THAT(speed.err, HasSubstr("wall_s needs the plugin files of the baseline"));
}

TEST_F(GateCommand, SetsValuesOfTheFileOnly) {
  SaveBaseline();
  const std::string set = "pole.yaml --set learner.options.policy=zero ";
  EXPECT_EQ(Gate(set + "--quiet --fail-if 'eval/return < -5%'").exit, 1);
  // Arms of a gate of speeds: the unchanged baseline, and the file with the value.
  EXPECT_EQ(Gate(set + "--dry-run --fail-if 'SPS < -99%'").exit, 0);
  const Finished folder = Gate("outputs/pole --set seed=2 --fail-if 'eval/return < -5%'");
  EXPECT_EQ(folder.exit, 2);
  EXPECT_THAT(folder.err, HasSubstr("expected an experiment file with"));
}

TEST_F(GateCommand, ReportsHowThisMachineDiffersFromTheBaselines) {
  SaveBaseline();
  const std::string rest = " outputs/pole --fail-if 'return < -50%'";
  EXPECT_THAT(Gate(rest).out, testing::Not(HasSubstr("The baseline ran ")));
  nlohmann::json kept = nlohmann::json::parse(ReadFile(dir_ / "kept/base.json"));
  kept["devices"] = {{{"name", "GPU of last year"}, {"memory_bytes", 1}}};
  kept["host"]["cpu_flags"] = "none";
  kept["versions"]["plugins"]["env.cartpole"] = "0.0.1";
  kept["facts"] = {"learner.random policy other"};
  Write("other.json", kept.dump());
  std::string out = Run("gate other.json" + rest).out;
  for (size_t at; (at = out.find("\n    ")) != std::string::npos;) out.replace(at, 5, " ");
  EXPECT_THAT(out, AllOf(HasSubstr("The baseline's processor has different instructions"),
                         HasSubstr("ran on different devices (GPU of last year, now "),
                         HasSubstr("The baseline ran with different versions: env.cartpole 0.0.1, now ")));
  EXPECT_THAT(out, testing::Not(HasSubstr("made different choices"))) << "the plugin makes no choices now";
}

TEST_F(GateCommand, HelpMarksRequiredArguments) {
  EXPECT_THAT(Run("gate --help").out, AllOf(HasSubstr("gate FILE FILE|OUT|PATH [OPTIONS]"), HasSubstr("(required)")));
  EXPECT_THAT(Run("gate save --help").out, AllOf(HasSubstr("gate save OUT [OPTIONS]"), HasSubstr("(required)")));
  EXPECT_EQ(Run("gate").exit, 2);
}

TEST_F(GateCommand, RejectsUnusableSubjectsBeforeTheStart) {
  SaveBaseline();
  Write("longer.yaml", "base: pole.yaml\nbudget: {iterations: 5}\n");
  Write("other.yaml", "base: pole.yaml\nenv: pendulum\n");
  Write("two.yaml", "base: pole.yaml\nsweep: {grid: {learner.options.horizon: [32, 64]}}\n");
  const struct {
    const char *rest, *says;
  } cases[] = {
      {"pole.yaml --fail-if 'eval/return < -5'",
       "column 15: expected a percentage of the baseline after '<', such as -5%, got '-5'"},
      {"pole.yaml --fail-if 'eval/return'",
       "column 12: expected '<' or '>' after a measure, such as 'eval/return < -5%', got none"},
      {"pole.yaml --fail-if ' < 5%'", "expected a measure before '<', such as eval/return, got none"},
      {"pole.yaml --fail-if 'return < -100%'", "expected a percentage above -100 and up to 1000, got '-100%'"},
      {"pole.yaml --fail-if 'return * < 5%'", "expected a measure or an expression of measures, got 'return *'"},
      {"pole.yaml --fail-if 'return / SPS < 5%'", "expected a speed without other measures"},
      {"pole.yaml --fail-if 'eval/retrun < 5%'", "no seed of the baseline recorded 'eval/retrun'; did you mean 'eval/return'"},
      {"pole.yaml --fail-if 'seed < -5%'",
       "'seed': expected a measure of a run, such as eval/return, got only values of the experiment file"},
      {"pole.yaml --fail-if '2 * 3 < -5%'", "'2 * 3': expected a measure of a run, such as eval/return, got only numbers"},
      {"longer.yaml --fail-if 'return < 5%'", "with unequal budgets, the longer run wins"},
      {"other.yaml --fail-if 'return < 5%'", "expected the env of the baseline, cartpole, got pendulum"},
      {"two.yaml --fail-if 'return < 5%'", "expected one configuration, got 2"},
      {"pole.yaml", "expected --fail-if with a condition that fails the gate, got none"},
  };
  for (const auto& one : cases) {
    const Finished gate = Gate(one.rest);
    EXPECT_EQ(gate.exit, 2) << one.rest << gate.out;
    EXPECT_THAT(gate.err, HasSubstr(one.says)) << one.rest;
  }
  const Finished dry = Gate("pole.yaml --fail-if 'return < 5%' --fail-if 'SPS < -5%' --dry-run");
  EXPECT_EQ(dry.exit, 0) << dry.err;
  EXPECT_THAT(dry.out, AllOf(HasSubstr("scores: 5 trials in the first look, at most 10 in 2 looks"),
                             HasSubstr("speeds: 20 trials in the first look (5 blocks of A B B A), at most 40 in 2 looks")));
  const Finished previews = Gate("pole.yaml --fail-if 'return < 5%' --fail-if 'SPS < -5%' --dry-run --json");
  const auto one_document = nlohmann::json::parse(previews.out, nullptr, /*allow_exceptions=*/false);
  ASSERT_TRUE(one_document.is_object()) << previews.out;
  EXPECT_EQ(one_document["scores"]["trials_of_a_look"], 5);
  EXPECT_EQ(one_document["scores"]["plan"]["trials"].size(), 10u);
  EXPECT_EQ(one_document["speeds"]["looks"], 2);
  EXPECT_EQ(one_document["speeds"]["plan"]["trials"].size(), 40u);
  EXPECT_FALSE(std::filesystem::exists(Out("pole_gate")));
}

}  // namespace
}  // namespace backplane::end_to_end
