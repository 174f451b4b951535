// A real trial's time: timed by the host, named by plugins within their calls, and the rest.
#include <gmock/gmock.h>

#include "places.hpp"
#include "program.hpp"

namespace backplane::end_to_end {
namespace {

using testing::HasSubstr;

class PhaseTest : public ProgramTest {
 protected:
  // Two threads, so that the pool's threads also run parts of ticks.
  nlohmann::json ResultOf(const std::string& learner, const std::string& more = "") {
    Write("phases.yaml", "experiment: phases\nenv: {plugin: cartpole}\nlearner: {plugin: " + learner +
                             "}\nrollout: {num_env_runners: 2, num_envs_per_env_runner: 2, threads: 2}\n"
                             "budget: {iterations: 20}\nevaluation: {episodes: 0}\n" +
                             "plugin_path: [" BACKPLANE_BINARY_DIR "/tests/fixtures/plugins]\n" + more);
    last_ = Run("run phases.yaml");
    return Result("phases");
  }
  static double Seconds(const nlohmann::json& result, const std::string& name) {
    for (const auto& phase : result["phases"])
      if (phase["name"] == name) return phase["seconds"];
    return 0;
  }
  // Threads x wall time of the loop.
  static double All(const nlohmann::json& result) {
    return result["wall_s"].get<double>() * result["learner_threads"].get<double>();
  }
  Finished last_;
};

TEST_F(PhaseTest, SpansOfAPluginCountForTheirPhaseAndSumUp) {
  const nlohmann::json result = ResultOf("names_phases");
  ASSERT_EQ(last_.exit, 0) << last_.err;
  // 20 iterations of 50 steps of 2 chunks: each copies 60 us there and 20 us back, and works 20 us.
  EXPECT_GE(Seconds(result, "obs_transfer"), 20 * 50 * 2 * 60e-6);
  EXPECT_GE(Seconds(result, "act_transfer"), 20 * 50 * 2 * 20e-6);
  EXPECT_GE(Seconds(result, "infer"), 20 * 50 * 2 * 20e-6);
  // 20 x 4 ticks of two parts.
  EXPECT_GE(Seconds(result, "update_forward"), 20 * 4 * 2 * 1.5e-3) << "parts of both threads count";
  EXPECT_GE(Seconds(result, "update_backward"), 20 * 4 * 2 * 0.5e-3);
  double sum = 0;
  for (const auto& phase : result["phases"]) sum += phase["seconds"].get<double>();
  EXPECT_LE(sum, All(result) * (1 + 1e-6)) << "phases overlap, or a span also counted for its call";
  EXPECT_GE(sum, All(result) * 0.98);
}

TEST_F(PhaseTest, AFailureWithinASpanLeavesIt) {
  const nlohmann::json result = ResultOf("names_phases, options: {fail_in_tick: 5}");
  EXPECT_NE(last_.exit, 0);
  EXPECT_THAT(result["error"].get<std::string>(), HasSubstr("the work failed in tick"));
  double sum = result["unnamed_share"];
  for (const auto& phase : result["phases"]) sum += phase["share"].get<double>();
  EXPECT_NEAR(sum, 1, 1e-6);
}

TEST_F(PhaseTest, NamedPhasesAreNearlyAllTheTime) {
  const nlohmann::json result = ResultOf("random, options: {horizon: 2048}", "checkpoint: {every_iterations: 5}\n");
  ASSERT_EQ(last_.exit, 0) << last_.err;
  const nlohmann::json& time = result["time"];
  double named = 0, shares = 0;
  for (const auto& [group, row] : time.items()) {
    shares += row["share"].get<double>();
    if (group != "unnamed") named += row["seconds"].get<double>();
  }
  EXPECT_NEAR(shares, 1, 1e-9);
  EXPECT_GE(named, 0.98 * All(result));
  EXPECT_GT(time["environment"]["cpu_use"], 0);
  EXPECT_LE(time["environment"]["cpu_use"], 1.05);
}

TEST_F(PhaseTest, MeasuresHaveTheUnitsThatPluginsGaveThem) {
  const nlohmann::json result = ResultOf("random");
  ASSERT_EQ(last_.exit, 0) << last_.err;
  EXPECT_EQ(result["measures"]["rollout/balance"]["direction"], 1);
  EXPECT_EQ(result["measures"]["resources/cpu_quota_pct"]["unit"], "%");
}

TEST_F(PhaseTest, TheTrialsStatusHasTheMeasuresOfOutputLive) {
  ResultOf("random", "output: {live: [ep/length, eval/return]}\n");
  ASSERT_EQ(last_.exit, 0) << last_.err;
  const std::string status = ReadFile(Attempt("phases") / "status");
  EXPECT_THAT(status, HasSubstr("ep/length"));
  EXPECT_THAT(status, HasSubstr("eval/return"));
}

TEST_F(PhaseTest, OutputLiveIsCheckedWithItsPlace) {
  ResultOf("random", "output: {live: [a, b, a]}\n");
  EXPECT_EQ(last_.exit, 2);
  EXPECT_THAT(last_.err, HasSubstr("output.live[2]: 'a' is already in the list"));
}

}  // namespace
}  // namespace backplane::end_to_end
