// Speeds are measured after a warm-up, until they are precise enough.
#include <gmock/gmock.h>
#include <signal.h>

#include "program.hpp"

namespace backplane::end_to_end {
namespace {

using testing::HasSubstr;
using testing::Not;

// One point; of its two seeds the first is seed 0.
constexpr char kSpeed[] = R"(
env: {plugin: cartpole}
learner: {plugin: random, options: {horizon: 64}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 2}
monitors: []
)";

class Precision : public ProgramTest {
 protected:
  void WriteSpeed(const std::string& name, const std::string& more, const std::string& report = "") {
    Write(name + ".yaml", "experiment: " + name + kSpeed + more + "report: {kind: parallel_efficiency" + report + "}\n");
  }
  std::vector<nlohmann::json> Trials(const std::string& name) const { return Lines(Out(name) / "plan.jsonl"); }
  std::filesystem::path TrialOf(const std::string& name, uint64_t seed) const {
    for (const nlohmann::json& line : Trials(name))
      if (line.value("seed", uint64_t{99}) == seed) return Out(name) / "trials" / line["trial_id"].get<std::string>();
    ADD_FAILURE() << name << " has no trial with seed " << seed;
    return {};
  }
  std::vector<nlohmann::json> LinesOf(const std::string& name, uint64_t seed, int attempt = 1) const {
    return Lines(TrialOf(name, seed) / ("attempt-" + std::to_string(attempt)) / "metrics.jsonl");
  }
  nlohmann::json ResultOf(const std::string& name, uint64_t seed, int attempt = 1) const {
    return nlohmann::json::parse(ReadFile(TrialOf(name, seed) / ("attempt-" + std::to_string(attempt)) / "result.json"));
  }
  // The reproducible parts of these lines, without times.
  static std::string Bits(const std::vector<nlohmann::json>& lines, uint64_t first, uint64_t last) {
    std::string text;
    for (nlohmann::json line : lines) {
      if (line["iteration"] < first || line["iteration"] > last) continue;
      line.erase("time");
      for (const char* measured : {"rollout/balance", "rollout/wall_eff"}) line["metrics"].erase(measured);
      text += line.dump() + "\n";
    }
    return text;
  }
};

TEST_F(Precision, TheWarmUpIsIterationZeroAndThreeAreMeasured) {
  WriteSpeed("three", "budget: {iterations: 3}\n");
  const Finished run = Run("run three.yaml");
  ASSERT_EQ(run.exit, 0) << run.err;
  ASSERT_EQ(Trials("three").size(), 2u) << "two seeds";
  const std::vector<nlohmann::json> lines = LinesOf("three", 0);
  ASSERT_EQ(lines.size(), 4u);
  double steps = 0, seconds = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i]["iteration"], i);
    EXPECT_EQ(lines[i]["step"], 128 * (i + 1)) << "steps of the warm-up count";
    if (i == 0) continue;
    steps += 128;
    seconds += lines[i]["time"]["iteration_s"].get<double>();
  }
  const nlohmann::json result = ResultOf("three", 0);
  EXPECT_EQ(result["iterations"], 3);
  EXPECT_EQ(result["env_steps"], 512);
  EXPECT_NEAR(result["sps"].get<double>(), steps / seconds, 1e-6 * steps / seconds);
  EXPECT_FALSE(result.contains("precision"));
  double named = 0;
  for (const nlohmann::json& phase : result["phases"]) named += phase["seconds"].get<double>();
  named /= result["learner_threads"].get<double>();
  EXPECT_LT(named, result["wall_s"].get<double>() - lines[0]["time"]["iteration_s"].get<double>())
      << "shares refer to the measured time";
}

TEST_F(Precision, ABudgetOfStepsDoesNotCountTheWarmUp) {
  WriteSpeed("steps", "budget: {env_steps: 256}\n");
  ASSERT_EQ(Run("run steps.yaml --quiet").exit, 0);
  EXPECT_EQ(ResultOf("steps", 0)["iterations"], 2);
  EXPECT_EQ(ResultOf("steps", 0)["env_steps"], 384);
}

TEST_F(Precision, OtherReportsHaveNoWarmUp) {
  Write("other.yaml", std::string("experiment: other") + kSpeed + "budget: {iterations: 3}\nreport: {kind: comparison}\n");
  ASSERT_EQ(Run("run other.yaml --quiet").exit, 0);
  ASSERT_EQ(Metrics("other").size(), 3u);
  EXPECT_EQ(Metrics("other")[0]["iteration"], 1);
}

// A precision that every measurement reaches ends trials after three iterations; an unreachable one ends them by time.
TEST_F(Precision, KeepsIterationsTheSameHoweverManyAreNeeded) {
  const std::string ppo =
      "experiment: NAME\nenv: {plugin: cartpole}\n"
      "learner: {plugin: ppo, options: {train_batch_size: 128, minibatch_size: 64, num_epochs: 2, lr_schedule: linear}}\n"
      "rollout: {num_env_runners: 2, num_envs_per_env_runner: 2}\nmonitors: []\nreport: {kind: parallel_efficiency, ";
  const auto write = [&](const std::string& name, const std::string& report) {
    std::string text = ppo + report + "}\n";
    Write(name + ".yaml", text.replace(text.find("NAME"), 4, name));
  };
  write("easy", "precision: 100%, max_time: 600s");
  write("hard", "precision: 0.0001%, max_time: 2s");
  ASSERT_EQ(Run("run easy.yaml --quiet").exit, 0);
  const Finished hard = Run("run hard.yaml");
  ASSERT_EQ(hard.exit, 0) << hard.err;
  EXPECT_TRUE(ResultOf("easy", 0)["precision"]["reached"]);
  const uint64_t few = ResultOf("easy", 0)["iterations"], many = ResultOf("hard", 0)["iterations"];
  EXPECT_GE(few, 3u);
  EXPECT_GT(many, few);
  EXPECT_GT(Bits(LinesOf("easy", 0), 0, few).size(), 500u);
  EXPECT_EQ(Bits(LinesOf("easy", 0), 0, few), Bits(LinesOf("hard", 0), 0, few));
  const nlohmann::json precision = ResultOf("hard", 0)["precision"];
  EXPECT_FALSE(precision["reached"]);
  EXPECT_EQ(precision["iterations"], many);
  EXPECT_GE(precision["seconds"].get<double>(), 1) << "half of the time, for one of two seeds";
  EXPECT_LT(precision["seconds"].get<double>(), kSanitized ? 60 : 20);
  EXPECT_THAT(ReadFile(Out("hard") / "report" / "parallel_efficiency_report.md"),
              testing::AllOf(HasSubstr("SPS is known to ±"), HasSubstr("report.precision asks for ± 0.0001 %"),
                             HasSubstr("report.max_time")));
  EXPECT_THAT(ReadFile(Out("easy") / "report" / "parallel_efficiency_report.md"), Not(HasSubstr("SPS is known to ±")));
}

TEST_F(Precision, AKilledTrialResumesWithTheSameIterations) {
  const std::string text =
      "env: {plugin: cartpole}\n"
      "learner: {plugin: ppo, options: {train_batch_size: 128, minibatch_size: 64, num_epochs: 2}}\n"
      "rollout: {num_env_runners: 2, num_envs_per_env_runner: 2}\nmonitors: []\ncheckpoint: {every_iterations: 2}\n"
      "sweep: {seeds: {n: 1}}\nreport: {kind: parallel_efficiency, precision: 0.0001%, max_time: 3s}\n";
  Write("whole.yaml", "experiment: whole\n" + text);
  Write("parts.yaml", "experiment: parts\n" + text);
  ASSERT_EQ(Run("run whole.yaml --quiet").exit, 0);
  const pid_t pid = Start("run parts.yaml --quiet");
  ASSERT_TRUE(Until([&] { return std::filesystem::exists(Out("parts")) && Metrics("parts").size() >= 6; })) << ErrorsOf(pid);
  kill(pid, SIGKILL);
  Wait(pid);
  const Finished again = Run("run parts.yaml --quiet");
  ASSERT_EQ(again.exit, 0) << again.err;
  const std::vector<nlohmann::json> rest = LinesOf("parts", 0, 2);
  ASSERT_GE(rest.size(), 2u) << "the kill came after its end";
  const uint64_t first = rest.front()["iteration"], common = std::min(ResultOf("whole", 0)["iterations"].get<uint64_t>(),
                                                                      rest.back()["iteration"].get<uint64_t>());
  EXPECT_GT(first, 1u) << "from a checkpoint";
  ASSERT_GT(common, first);
  EXPECT_EQ(Bits(LinesOf("whole", 0), first, common), Bits(rest, first, common));
  const nlohmann::json result = ResultOf("parts", 0, 2);
  EXPECT_EQ(result["precision"]["iterations"], rest.size() - 1) << "each process warms up and measures again";
}

TEST_F(Precision, ADryRunReportsTheMaximumTime) {
  WriteSpeed("slow", "sweep: {grid: {rollout.num_env_runners: [1, 2, 4]}}\n", ", max_time: 30s");
  const Finished dry = Run("run slow.yaml --dry-run");
  ASSERT_EQ(dry.exit, 0) << dry.err;
  EXPECT_THAT(dry.out, testing::AllOf(HasSubstr("3 points, 6 trials"), HasSubstr("time: at most 1:30")));
  const nlohmann::json plan = nlohmann::json::parse(Run("run slow.yaml --dry-run --json").out);
  EXPECT_EQ(plan["estimate"]["seconds_at_most"], 90);
  EXPECT_THAT(Run("run slow.yaml --dry-run --set budget.iterations=3").out, Not(HasSubstr("at most")));
}

}  // namespace
}  // namespace backplane::end_to_end
