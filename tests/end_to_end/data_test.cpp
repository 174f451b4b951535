// Trials that learn from a data set.
#include <gmock/gmock.h>
#include <signal.h>

#include "places.hpp"
#include "program.hpp"

namespace backplane::end_to_end {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAre;

class DataTrials : public ProgramTest {
 protected:
  static constexpr char kFixtures[] = " --plugin-path " BACKPLANE_BINARY_DIR "/tests/fixtures/plugins";
  // 103 items in groups of 8: each epoch has 12 whole groups and a short one.
  void WriteFile(const std::string& name, const std::string& more) {
    Write(name + ".yaml", "experiment: " + name + R"(
env: {plugin: numbers, options: {items: 103, capacity: 6}}
learner: {plugin: adds, options: {group: 8, micro_batch: 4}}
)" + more);
  }
  Finished RunFile(const std::string& name, const std::string& more = "") {
    return Run("run " + name + ".yaml" + kFixtures + more);
  }
  // Whole lines of metrics.jsonl.
  std::vector<nlohmann::json> WithTimes(const std::string& experiment, int attempt = 1) {
    return Lines(Attempt(experiment, attempt) / "metrics.jsonl");
  }
};

TEST_F(DataTrials, EndAfterTheirEpochsWithAKnownNumberOfUpdates) {
  WriteFile("epochs", "budget: {epochs: 3}\nevaluation: {episodes: 5}\n");
  const Finished run = RunFile("epochs");
  ASSERT_EQ(run.exit, 0) << run.err;
  const nlohmann::json result = Result("epochs");
  EXPECT_EQ(result["iterations"], 3 * 13);
  EXPECT_EQ(result["env_steps"], 3 * 103);
  EXPECT_EQ(result["data"]["epochs"], 3.0);
  EXPECT_THAT(run.out, HasSubstr("39 iterations, 309 items, 3 epochs in"));
  EXPECT_EQ(result["data"]["micro_batch"], 4);
  EXPECT_TRUE(result["data"]["shrinks"].empty());
  EXPECT_EQ(Metrics("epochs").back()["metrics"]["train/updates_in_all"], 3 * 13);
  EXPECT_EQ(result["evaluation"]["metrics"]["ep/loss"]["n"], 5);
  // Items 0 .. 4 of lengths 1, 6, 5, 4, 3, each the item's number times its length.
  EXPECT_DOUBLE_EQ(result["evaluation"]["metrics"]["ep/loss"]["mean"], (0 * 1 + 1 * 6 + 2 * 5 + 3 * 4 + 4 * 3) / 19.0);
}

TEST_F(DataTrials, ALimitThatIsNeverReachedIsNamedBeforeTheStart) {
  WriteFile("limits", "budget: {epochs: 1, iterations: 100}\n");
  const Finished run = RunFile("limits");
  EXPECT_THAT(run.err, HasSubstr("limits.yaml:4:21 budget.iterations: 100 cannot be reached, because budget.epochs ends the "
                                 "trial in iteration 13; an epoch has 13 iterations"));
  EXPECT_EQ(Result("limits")["iterations"], 13);
}

TEST_F(DataTrials, APhaseCountsItsOwnUpdates) {
  WriteFile("stages", "stages: [{name: first, budget.iterations: 5}, {name: second, budget.iterations: 7}]\n");
  const Finished run = RunFile("stages");
  ASSERT_EQ(run.exit, 0) << run.err;
  std::vector<double> before;
  for (const auto& trial : std::filesystem::directory_iterator(dir_ / "outputs/stages/trials")) {
    for (const nlohmann::json& line : Lines(trial.path() / "attempt-1/metrics.jsonl"))
      before.push_back(line["metrics"]["train/updates_before"]);
  }
  EXPECT_THAT(before, UnorderedElementsAre(0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 5, 6));
}

TEST_F(DataTrials, ThatDoNotFitShrinkMicroBatchesAndKeepTheirUpdates) {
  WriteFile("whole", "budget: {epochs: 1}\n");
  ASSERT_EQ(RunFile("whole").exit, 0);
  WriteFile("small", "budget: {epochs: 1}\nresources: {device_memory: 1150B}\n");  // two items of 6 numbers
  const Finished run = RunFile("small");
  ASSERT_EQ(run.exit, 0) << run.err;
  const nlohmann::json shrinks = Result("small")["data"]["shrinks"];
  ASSERT_EQ(shrinks.size(), 1u);
  EXPECT_EQ(shrinks[0]["iteration"], 1);
  EXPECT_EQ(shrinks[0]["micro_batch_before"], 4);
  EXPECT_EQ(shrinks[0]["micro_batch_after"], 2);
  EXPECT_EQ(Metrics("small").back()["metrics"]["train/sum"], Metrics("whole").back()["metrics"]["train/sum"]);
  EXPECT_THAT(run.err, HasSubstr("continuing with 2 items at a time instead of 4"));
}

TEST_F(DataTrials, RecordDeviceMemoryAndTheNumberOfOverflows) {
  WriteFile("told", "budget: {epochs: 1}\nresources: {device_memory: 1150B}\n");
  ASSERT_EQ(RunFile("told").exit, 0);
  const std::vector<nlohmann::json> lines = WithTimes("told");
  ASSERT_EQ(lines.size(), 13u);
  EXPECT_EQ(lines[0]["metrics"]["data/oom_count"], 1);
  EXPECT_EQ(lines[0]["metrics"]["data/first_oom"], 1);
  EXPECT_EQ(lines[1]["metrics"]["data/oom_count"], 0);
  EXPECT_FALSE(lines[1]["metrics"].contains("data/first_oom"));
  const nlohmann::json& machine = lines[0]["time"]["machine"];
  EXPECT_DOUBLE_EQ(machine["device/live_mb"], 1000 / 1048576.0);
  EXPECT_GT(machine["device/peak_mb"], machine["device/live_mb"]);
  EXPECT_LE(machine["device/peak_mb"], 1150 / 1048576.0);
}

TEST_F(DataTrials, EvaluateTheLearnersNumberOfItemsPerCall) {
  WriteFile("rows", "budget: {iterations: 1}\nevaluation: {episodes: 10}\n");
  const Finished run = RunFile("rows", " --set learner.options.evaluation_rows=4");
  ASSERT_EQ(run.exit, 0) << run.err;
  EXPECT_EQ(Result("rows")["evaluation_returns"], (std::vector<double>{4, 4, 4, 4, 4, 4, 4, 4, 2, 2}))
      << "each action is its call's number of rows";
  ASSERT_EQ(RunFile("rows", " --fresh --set rollout.num_env_runners=4 --set learner.options.evaluation_rows=4").exit, 0);
  EXPECT_EQ(Result("rows")["evaluation_returns"], (std::vector<double>{3, 3, 3, 3, 3, 3, 3, 3, 3, 1}))
      << "each runner gets its share of the rows";
}

TEST_F(DataTrials, HeldOutLossIsTheSameForAnyRunnersIfSupported) {
  WriteFile("after", "budget: {iterations: 1}\nevaluation: {episodes: 10}\n");
  ASSERT_EQ(RunFile("after").exit, 0);
  const nlohmann::json alone = Result("after")["evaluation"]["metrics"]["ep/loss"];
  const Finished run = RunFile("after",
                               " --fresh --set rollout.num_env_runners=4 --set learner.options.evaluation_rows=4"
                               " --set learner.options.held_out_any=true");
  ASSERT_EQ(run.exit, 0) << run.err;
  EXPECT_EQ(Result("after")["evaluation"]["metrics"]["ep/loss"], alone);
  EXPECT_EQ(Result("after")["evaluation_returns"], (std::vector<double>{4, 4, 4, 4, 4, 4, 4, 4, 2, 2}))
      << "independent rows are not split by runners";
}

TEST_F(DataTrials, CanBeEvaluatedBeforeTheyLearn) {
  WriteFile("start", "budget: {iterations: 4}\nevaluation: {episodes: 5, at_start: true, every_iterations: 2}\n");
  const Finished run = RunFile("start");
  ASSERT_EQ(run.exit, 0) << run.err;
  const std::vector<nlohmann::json> lines = WithTimes("start");
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[0]["iteration"], 0);
  EXPECT_EQ(lines[0]["eval"]["return"]["mean"], 0) << "the action is the sum so far";
  EXPECT_EQ(lines[0]["eval"]["metrics"]["ep/loss"]["n"], 5);
  EXPECT_EQ(lines[1]["iteration"], 1);
  EXPECT_FALSE(lines[1].contains("eval"));
  EXPECT_GT(lines[2]["eval"]["return"]["mean"], 0);
  EXPECT_EQ(lines[4]["eval"], Result("start")["evaluation"]);
  EXPECT_EQ(Result("start")["iterations"], 4);
  const std::string id = Attempt("start").parent_path().filename();
  const Finished replay = Run("replay outputs/start " + id);
  EXPECT_EQ(replay.exit, 0) << replay.out << replay.err;
  EXPECT_THAT(replay.out, HasSubstr("5 iterations replayed; the 5 recorded ones are equal bit for bit"));
  for (const char* reader :
       {"store rebuild outputs/start", "export csv outputs/start", "export tb outputs/start", "report outputs/start"})
    EXPECT_EQ(Run(reader).exit, 0) << reader;
}

TEST_F(DataTrials, ThatAreEvaluatedFirstShrinkToo) {
  WriteFile("tight",
            "budget: {iterations: 3}\nevaluation: {episodes: 5, at_start: true}\nresources: {device_memory: 1130B}\n"
            "report: {kind: comparison, columns: [data/oom_count@sum, data/first_oom@min, device/peak_mb@max]}\n");
  const Finished run = RunFile("tight");
  ASSERT_EQ(run.exit, 0) << run.err;
  EXPECT_EQ(Result("tight")["data"]["micro_batch"], 2);
  const std::string report = ReadFile(dir_ / "outputs/tight/report/comparison_report.md");
  EXPECT_THAT(report, HasSubstr("Updates that did not fit"));
  EXPECT_THAT(ReadFile(dir_ / "outputs/tight/report/comparison_results.csv"), HasSubstr("tight,1,1,"));
}

TEST_F(DataTrials, ThatDoNotFitAtAllAreInfeasible) {
  WriteFile("none", "budget: {epochs: 1}\nresources: {device_memory: 1010B}\n");
  const Finished run = RunFile("none");
  EXPECT_THAT(run.err, HasSubstr("INFEASIBLE (oom)"));
  EXPECT_THAT(ReadFile(dir_ / "outputs/none/events.jsonl"), HasSubstr("INFEASIBLE"));
  EXPECT_THAT(Result("none")["error"], HasSubstr("one item at a time"));
  const Finished unshrunk =
      RunFile("none", " --fresh --set resources.device_memory=1150B --set on_failure.device_oom=infeasible");
  EXPECT_THAT(unshrunk.err, HasSubstr("needs 1200 bytes of 1150"));
  EXPECT_THAT(ReadFile(dir_ / "outputs/none/events.jsonl"), HasSubstr("INFEASIBLE"));
}

TEST_F(DataTrials, FindTheLargestMicroBatchThatFits) {
  WriteFile("fit", "budget: {epochs: 1}\nresources: {device_memory: 1330B}\n");  // five items of 6 numbers
  const Finished run = RunFile("fit", " --set learner.options.micro_batch=0");
  ASSERT_EQ(run.exit, 0) << run.err;
  EXPECT_EQ(Result("fit")["data"]["micro_batch"], 5);
  EXPECT_TRUE(Result("fit")["data"]["shrinks"].empty());
}

TEST_F(DataTrials, StoppedAndResumedEqualUndisturbedOnes) {
  const std::string more = "budget: {epochs: 4}\nresources: {device_memory: 1150B}\ncheckpoint: {every_iterations: 5}\n";
  WriteFile("undisturbed", more);
  WriteFile("parts", more);
  ASSERT_EQ(RunFile("undisturbed").exit, 0);
  const std::string slow = " --set learner.options.sleep_us=20000";
  int attempt = 1;
  for (const int signal : {SIGINT, SIGKILL, SIGINT}) {
    const pid_t pid = Start("run parts.yaml" + std::string(kFixtures) + slow);
    ASSERT_TRUE(Until([&] { return Metrics("parts", attempt).size() >= 7; })) << ErrorsOf(pid);
    kill(pid, signal);
    Wait(pid);
    ++attempt;
  }
  const Finished last = Run("run parts.yaml" + std::string(kFixtures) + slow);
  ASSERT_EQ(last.exit, 0) << last.err;
  ASSERT_TRUE(std::filesystem::exists(Attempt("parts", attempt) / "result.json"));
  nlohmann::json one = Metrics("undisturbed").back(), other = Metrics("parts", attempt).back();
  EXPECT_EQ(one, other);
  const nlohmann::json result = nlohmann::json::parse(ReadFile(Attempt("parts", attempt) / "result.json"));
  EXPECT_EQ(result["data"]["shrinks"].size(), 1u) << "it was the first attempt's";
  EXPECT_EQ(result["data"]["shrinks"], Result("undisturbed")["data"]["shrinks"]);
  for (const nlohmann::json& line : WithTimes("parts", attempt))
    EXPECT_EQ(line["metrics"]["data/oom_count"], 0) << "reported twice";
}

// The env requests a stop of the trial during the evaluation after iteration 3, and the supervisor retries it.
TEST_F(DataTrials, StoppedDuringAnEvaluationHaveTheLinesOfUndisturbedOnes) {
  const auto run = [this](const std::string& name, const std::string& mark) {
    Write(name + ".yaml", "experiment: " + name + "\nenv: {plugin: tells, options: {items: 103, mark: '" + mark + R"('}}
learner: {plugin: adds, options: {group: 8, micro_batch: 4}}
resources: {device_memory: 1150B}
budget: {iterations: 6}
evaluation: {episodes: 10, every_iterations: 3}
)");
    return RunFile(name);
  };
  const Finished stopped = run("stopped", (dir_ / "mark").string());
  ASSERT_EQ(stopped.exit, 0) << stopped.err;
  const Finished undisturbed = run("undisturbed", "");
  ASSERT_EQ(undisturbed.exit, 0) << undisturbed.err;
  std::vector<nlohmann::json> lines = WithTimes("stopped");
  const std::vector<nlohmann::json> rest = WithTimes("stopped", 2);
  ASSERT_EQ(lines.size(), 2u) << "it was stopped at a different point";
  ASSERT_EQ(rest.size(), 4u);
  EXPECT_EQ(rest[0]["iteration"], 3);
  EXPECT_GT(rest[0]["time"]["sps"], 0) << "the attempt that learned measured it";
  EXPECT_TRUE(rest[0]["time"]["machine"].contains("device/live_mb")) << rest[0];
  lines.insert(lines.end(), rest.begin(), rest.end());
  const std::vector<nlohmann::json> whole = WithTimes("undisturbed");
  ASSERT_EQ(lines.size(), whole.size());
  for (size_t i = 0; i < whole.size(); ++i) {
    nlohmann::json one = lines[i], other = whole[i];
    one.erase("time");
    other.erase("time");
    EXPECT_EQ(one, other);
    EXPECT_EQ(one.contains("eval"), i == 2 || i == 5);
  }
}

TEST_F(DataTrials, RecordFactsAndWarningsOfTheirEnvs) {
  const auto run = [this](const std::string& name, const std::string& options) {
    Write(name + ".yaml", "experiment: " + name + "\nenv: {plugin: tells, options: {items: 103, " + options + R"(}}
learner: {plugin: adds, options: {group: 8, micro_batch: 4}}
budget: {iterations: 1}
evaluation: {episodes: 5, env: {options: {items: 20}}}
)");
    return RunFile(name);
  };
  const Finished few = run("few", "warnings: 12");
  ASSERT_EQ(few.exit, 0) << few.err;
  nlohmann::json facts = Result("few")["facts"];
  EXPECT_EQ(facts["env.tells"]["items"], "103");
  EXPECT_EQ(facts["env.tells@evaluation"]["items"], "20");
  const nlohmann::json warnings = Result("few")["warnings"];
  ASSERT_EQ(warnings.size(), 12u) << "both envs give the same warnings: " << warnings;
  EXPECT_EQ(warnings[11], "env.tells: warning 12");
  EXPECT_THAT(few.err, HasSubstr("warning: env.tells: warning 12"));

  const Finished many = run("many", "warnings: 30");
  ASSERT_EQ(many.exit, 0) << many.err;
  const nlohmann::json first = Result("many")["warnings"];
  ASSERT_EQ(first.size(), 21u);
  EXPECT_EQ(first[19], "env.tells: warning 20");
  EXPECT_THAT(first[20].get<std::string>(), HasSubstr("stderr.log"));
}

TEST_F(DataTrials, ThatDivergeKeepTheStateBeforeTheGroup) {
  WriteFile("nan", "budget: {epochs: 1}\n");
  const Finished run = RunFile("nan", " --set learner.options.fails_at=3");
  EXPECT_EQ(run.exit, 1) << run.out;
  EXPECT_EQ(Result("nan")["outcome"], "nan");
  EXPECT_TRUE(std::filesystem::exists(Attempt("nan").parent_path() / "checkpoint/checkpoint.bin"));
}

TEST_F(DataTrials, NeedADataSet) {
  Write("ant.yaml", "experiment: no_data\nenv: {plugin: cartpole}\nlearner: {plugin: adds}\nbudget: {epochs: 1}\n");
  const Finished run = RunFile("ant");
  EXPECT_NE(run.exit, 0);
  EXPECT_THAT(run.out + run.err, HasSubstr("learns from a data set, but the env is not one"));
}

}  // namespace
}  // namespace backplane::end_to_end
