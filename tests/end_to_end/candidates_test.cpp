// A learner with candidates, under the real program.
#include <gmock/gmock.h>
#include <signal.h>

#include <set>

#include "places.hpp"
#include "program.hpp"

namespace backplane::end_to_end {
namespace {

class Candidates : public ProgramTest {
 protected:
  // The experiment `name` with these options of the learner and further keys.
  static std::string Text(const std::string& name, const std::string& options = "",
                          const std::string& more = "budget: {iterations: 6}\n") {
    return "experiment: " + name + "\nenv: {plugin: cartpole}\nlearner: {plugin: climbs, options: {" + options +
           "}}\nrollout: {num_env_runners: 3, num_envs_per_env_runner: 4}\n"
           "plugin_path: [" BACKPLANE_BINARY_DIR "/tests/fixtures/plugins]\n" +
           more;
  }
  Finished RunText(const std::string& name, const std::string& text, const std::string& more = "") {
    Write(name + ".yaml", text);
    return Run("run " + name + ".yaml " + more);
  }
  std::string Weights(const std::string& name) { return LearnerState(Attempt(name).parent_path()); }
};

TEST_F(Candidates, AreScoredAndLearnedFrom) {
  const Finished run = RunText("climbs", Text("climbs", "", "budget: {iterations: 12}\nevaluation: {episodes: 5}\n"));
  ASSERT_EQ(run.exit, 0) << run.err;
  const nlohmann::json result = Result("climbs");
  EXPECT_EQ(result["iterations"], 12);
  EXPECT_EQ(result["episodes"], 12 * 24 * 2);
  EXPECT_GT(result["evaluation"]["return"]["mean"], 150) << "hill climbing balances the pole";
  EXPECT_EQ(result["rollout"].size(), 2u) << "balance and wall_eff";
  const std::vector<nlohmann::json> lines = Metrics("climbs");
  ASSERT_EQ(lines.size(), 12u);
  EXPECT_EQ(lines[0]["episodes"], 24 * 2);
  EXPECT_EQ(lines[0]["return"]["mean"], lines[0]["ep"]["ep/length"]["mean"]) << "each step earns 1";
  std::set<std::string> phases;
  for (const auto& phase : result["phases"]) phases.insert(phase["name"]);
  EXPECT_THAT(phases, testing::IsSupersetOf({"env_step", "env_reset", "infer"}));
}

TEST_F(Candidates, GiveTheSameWeightsForAnyThreadsRowsAndChunk) {
  std::vector<std::string> weights, fingerprints;
  std::vector<nlohmann::json> lines;
  int n = 0;
  std::vector<std::string> settings;
  for (const int threads : kThreads) settings.push_back("rollout.threads=" + std::to_string(threads));
  for (const char* cut : {"rollout.num_env_runners=1", "rollout.num_envs_per_env_runner=16", "rollout.chunk_rows=1",
                          "learner.options.chunk=1", "learner.options.chunk=7"})
    if (!kLooksForRaces) settings.emplace_back(cut);
  for (const std::string& setting : settings) {
    const std::string name = "same" + std::to_string(n++);
    const Finished run = RunText(name, Text(name), "--set " + setting);
    ASSERT_EQ(run.exit, 0) << run.err;
    weights.push_back(Weights(name));
    fingerprints.push_back(ReadFile(Attempt(name) / "fingerprints.bin"));
    lines.push_back(Metrics(name).back());
    lines.back().erase("metrics");
  }
  EXPECT_GE(weights[0].size(), 32u);
  for (size_t i = 1; i < weights.size(); ++i) {
    EXPECT_EQ(weights[i], weights[0]) << i;
    EXPECT_EQ(lines[i], lines[0]) << i;
    EXPECT_EQ(fingerprints[i], fingerprints[0]) << i;
  }
}

TEST_F(Candidates, GiveTheSameWeightsForAnyThreadsWithoutRowExactness) {
  std::vector<std::string> values, weights;
  for (const int threads : kThreads) {
    const std::string name = "waves" + std::to_string(threads);
    const Finished run =
        RunText(name, Text(name, "row_exact: false, chunk: 5"), "--set rollout.threads=" + std::to_string(threads));
    ASSERT_EQ(run.exit, 0) << run.err;
    values.push_back(Values(name));
    weights.push_back(Weights(name));
  }
  EXPECT_THAT(values, testing::Each(values[0]));
  EXPECT_THAT(weights, testing::Each(weights[0]));
}

TEST_F(Candidates, ABudgetOfEnvStepsEndsTheTrialAfterTheIterationThatReachesIt) {
  const Finished run =
      RunText("budget", Text("budget", "max_steps: 5", "budget: {env_steps: 700}\nevaluation: {episodes: 0}\n"));
  ASSERT_EQ(run.exit, 0) << run.err;
  const nlohmann::json result = Result("budget");
  EXPECT_EQ(result["env_steps"], 3 * 24 * 2 * 5) << "no pole falls within 5 steps";
  EXPECT_EQ(result["iterations"], 3);
}

TEST_F(Candidates, ARunStoppedAndResumedEqualsAnUninterruptedOne) {
  int n = 0;
  for (const char* options : {"", "row_exact: false", "rollout_every: 2"}) {
    const std::string more = "budget: {iterations: " + std::to_string(kSanitized ? 25 : 200) +
                             "}\nevaluation: {episodes: 2}\ncheckpoint: {every_iterations: 7}\n";
    const std::string name = std::to_string(n++);
    ASSERT_EQ(RunText("whole" + name, Text("whole" + name, options, more)).exit, 0);
    Write("parts" + name + ".yaml", Text("parts" + name, options, more));
    const pid_t pid = Start("run parts" + name + ".yaml");
    ASSERT_TRUE(Until([&] { return Metrics("parts" + name).size() >= 2; })) << ErrorsOf(pid);
    kill(pid, SIGINT);
    const Finished first = Wait(pid);
    ASSERT_EQ(first.exit, 130) << first.err << "the trial should be long enough to be stopped";
    const Finished second = Run("run parts" + name + ".yaml");
    ASSERT_EQ(second.exit, 0) << second.err;
    ASSERT_FALSE(Metrics("parts" + name, 2).empty());
    nlohmann::json whole = Metrics("whole" + name).back(), parts = Metrics("parts" + name, 2).back();
    EXPECT_EQ(parts, whole) << options;
    EXPECT_EQ(Weights("parts" + name), Weights("whole" + name)) << options;
  }
}

}  // namespace
}  // namespace backplane::end_to_end
