// Trials whose learner takes its rollouts in parts. Every number is compared with the whole rollout, or with a trial that
// nothing interrupted.
#include <gmock/gmock.h>
#include <signal.h>

#include "places.hpp"
#include "program.hpp"

namespace backplane::end_to_end {
namespace {

using testing::HasSubstr;

constexpr char kFixtures[] = " --plugin-path " BACKPLANE_BINARY_DIR "/tests/fixtures/plugins";

class RolloutInParts : public ProgramTest {
 protected:
  // `options` are the learner's. Three chunks of four envs.
  void WriteTrial(const std::string& name, const std::string& options, const std::string& more,
                  const std::string& env = "cartpole", const std::string& learner = "takes_parts") {
    Write(name + ".yaml", "experiment: " + name + "\nenv: {plugin: " + env + "}\nlearner: {plugin: " + learner +
                              ", options: {" + options + "}}\nrollout: {num_env_runners: 3, num_envs_per_env_runner: 4}\n" +
                              more);
  }
  Finished RunTrial(const std::string& name, const std::string& more = "") {
    return Run("run " + name + ".yaml" + kFixtures + more);
  }
  std::string Fingerprints(const std::string& name, int attempt = 1) const {
    return ReadFile(Attempt(name, attempt) / "fingerprints.bin");
  }
  std::string Learned(const std::string& name) const { return LearnerState(Attempt(name).parent_path()); }
};

// Digests in the learner's state cover all that it received.
TEST_F(RolloutInParts, HaveTheRecordsOfTheWholeRollout) {
  for (const auto& [env, horizon] : {std::pair{"cartpole", 50}, {"pendulum", 230}, {"couriers", 23}}) {
    const auto run = [&, env = env, horizon = horizon](const std::string& name, int part, int threads) {
      WriteTrial(name, "carries: true, horizon: " + std::to_string(horizon) + ", part: " + std::to_string(part),
                 "budget: {iterations: 4}\nevaluation: {episodes: 2, every_iterations: 3}\n", env);
      const Finished done = RunTrial(name, " --set rollout.threads=" + std::to_string(threads));
      EXPECT_EQ(done.exit, 0) << done.err;
      EXPECT_EQ(Metrics(name).size(), 4u) << "one line per rollout";
    };
    const std::string whole = std::string(env) + "0";
    run(whole, 0, 1);
    EXPECT_GT(Fingerprints(whole).size(), 200u);
    EXPECT_GT(Result(whole)["episodes"], 10);
    for (const auto& [part, threads] : {std::pair{1, 1}, {3, 3}, {horizon - 1, 2}, {horizon, 2}, {horizon + 5, 1}}) {
      const std::string name = std::string(env) + std::to_string(part);
      run(name, part, threads);
      EXPECT_TRUE(Fingerprints(name) == Fingerprints(whole)) << name;
      EXPECT_TRUE(Learned(name) == Learned(whole)) << name;
      EXPECT_EQ(Values(name), Values(whole)) << name;
    }
  }
}

TEST_F(RolloutInParts, EachActsWithTheNewestPolicy) {
  const std::string more = "budget: {iterations: 4}\n";
  for (const char* part : {"0", "3"}) {
    WriteTrial(std::string("learns") + part, std::string("learns: true, carries: true, part: ") + part, more);
    ASSERT_EQ(RunTrial(std::string("learns") + part, " --set rollout.threads=1").exit, 0);
  }
  EXPECT_NE(Learned("learns3"), Learned("learns0")) << "the policy changes within a rollout";
  for (const std::string key : {"threads", "workers"})
    for (const std::string number : {"1", "2", "3"}) {
      const std::string name = key + number;
      WriteTrial(name, "learns: true, carries: true, part: 3", more);
      const Finished run = RunTrial(name, " --set rollout." + key + "=" + number);
      ASSERT_EQ(run.exit, 0) << run.err;
      EXPECT_EQ(std::filesystem::exists(Attempt(name) / "worker-1.log"), key == "workers");
      EXPECT_TRUE(Fingerprints(name) == Fingerprints("learns3")) << name;
      EXPECT_TRUE(Learned(name) == Learned("learns3")) << name;
      EXPECT_EQ(Result(name)["warnings"].dump(), "[]");
      EXPECT_EQ(Result(name)["rollout"].is_null(), name == "threads1") << "the use of one thread is not measured";
    }
}

TEST_F(RolloutInParts, WorkersNeedThePolicyOfEach) {
  WriteTrial("alone", "part: 3", "budget: {iterations: 4}\n", "cartpole", "takes_parts_alone");
  for (const char* command : {"run", "run --dry-run"}) {
    const Finished run = Run(std::string(command) + " alone.yaml --set rollout.workers=2" + kFixtures);
    EXPECT_NE(run.exit, 0);
    EXPECT_THAT(
        run.out + run.err,
        HasSubstr("learner.takes_parts_alone: rollout workers play each part of a rollout with its newest policy, but it "
                  "does not offer any (bp.learner.policy/1); remove rollout.workers"));
  }
  EXPECT_EQ(RunTrial("alone").exit, 0);
}

// A part takes 2 ms and an iteration 40 ms, so the stop comes within one.
TEST_F(RolloutInParts, StoppedOrKilledTrialsRepeatTheIteration) {
  const std::string options = "learns: true, part: 1, ticks: 2, sleep_ms: ";
  const std::string more = "budget: {iterations: 12}\ncheckpoint: {every_iterations: 2}\n";
  WriteTrial("whole", options + "0", more);
  ASSERT_EQ(RunTrial("whole").exit, 0);
  for (const auto& [name, signal] : {std::pair{"stopped", SIGINT}, {"killed", SIGKILL}}) {
    WriteTrial(name, options + "2", more);
    const pid_t pid = Start(std::string("run ") + name + ".yaml" + kFixtures);
    ASSERT_TRUE(Until([&, name = name] { return Metrics(name).size() >= 5; })) << ErrorsOf(pid);
    signal == SIGINT ? kill(pid, SIGINT) : kill(TrialProcesses().at(0), SIGKILL);
    EXPECT_EQ(Wait(pid).exit, signal == SIGINT ? 130 : 0) << "a killed trial is started again";
    ASSERT_LT(Metrics(name).size(), 12u) << "the trial should be long enough";
    const Finished second = RunTrial(name);
    ASSERT_EQ(second.exit, 0) << second.err;
    EXPECT_EQ(Metrics(name, 2).back()["env_steps"], Metrics("whole").back()["env_steps"]);
    EXPECT_TRUE(Learned(name) == Learned("whole")) << name;
  }
}

TEST_F(RolloutInParts, FailureInOneDropsTheIteration) {
  WriteTrial("one", "part: 3, learns: true", "budget: {iterations: 1}\n");
  ASSERT_EQ(RunTrial("one").exit, 0);
  for (const auto& [failure, words] : {std::pair{"nan", "learner.takes_parts: consume: a loss is not a number"},
                                       {"oom", "learner.takes_parts: consume: no memory for a part"}}) {
    WriteTrial(failure, std::string("part: 3, learns: true, fail_in: 11, failure: ") + failure, "budget: {iterations: 4}\n");
    RunTrial(failure);
    EXPECT_EQ(Result(failure)["error"], words);
    EXPECT_EQ(Metrics(failure).size(), 1u) << "an iteration has seven parts";
  }
  EXPECT_TRUE(Learned("nan") == Learned("one")) << "the state before the iteration is kept";
  WriteTrial("write", "part: 3, fail_in: 1, failure: write", "budget: {iterations: 4}\n");
  EXPECT_NE(RunTrial("write").exit, 0);
  EXPECT_THAT(Result("write")["error"].get<std::string>(),
              HasSubstr("learner.takes_parts: consume: expected nothing written outside channel 'reward'"));
}

TEST_F(RolloutInParts, DoNotCountUpdatesAsSampling) {
  WriteTrial("slow", "part: 1, sleep_ms: 5", "budget: {iterations: 5}\n");
  ASSERT_EQ(RunTrial("slow", " --set rollout.threads=1").exit, 0);
  double most = 0;  // of several, because other programs may delay a rollout
  for (const nlohmann::json& line : Lines(Attempt("slow") / "metrics.jsonl"))
    most = std::max(most, line["time"]["sampling_sps"].get<double>() / line["time"]["sps"].get<double>());
  EXPECT_GT(most, 5);
}

// The patience after the budget is 10 s; the rollout would take 50 s.
TEST_F(RolloutInParts, EndWithTheWallTime) {
  WriteTrial("late", "horizon: 100, part: 1, sleep_ms: 500", "budget: {wall_time: 1s}\n");
  const Finished run = RunTrial("late");
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_EQ(Metrics("late").size(), 0u);
  EXPECT_LT(Result("late")["wall_s"], 30);
  EXPECT_THAT(Result("late")["warnings"].dump(),
              HasSubstr("budget.wall_time was over before iteration 1 had collected all data"));
}

// Its state is saved only between iterations, so the last one is completed. It takes 14 s.
TEST_F(RolloutInParts, EndAfterTheIterationOfALargeState) {
  WriteTrial("large", "horizon: 28, part: 1, sleep_ms: 500, large: true", "budget: {wall_time: 1s}\n");
  WriteTrial("whole", "horizon: 28", "budget: {iterations: 1}\n");
  ASSERT_EQ(RunTrial("whole").exit, 0);
  const Finished run = RunTrial("large");
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_EQ(Metrics("large").size(), 1u);
  EXPECT_GT(Result("large")["wall_s"], 11);
  EXPECT_TRUE(Learned("large") == Learned("whole"));
}

TEST_F(RolloutInParts, AreInspectedAsOneRollout) {
  std::string whole;
  for (const char* part : {"0", "3"}) {
    const std::string name = std::string("inspected") + part;
    WriteTrial(name, std::string("part: ") + part, "budget: {iterations: 3}\n", "pendulum");
    ASSERT_EQ(RunTrial(name).exit, 0);
    const Finished seen =
        Run("inspect " + Out(name).string() + " --iteration 2 --row 5 --step 16 --json --picture " + name + ".svg");
    ASSERT_EQ(seen.exit, 0) << seen.err;
    nlohmann::json moment = nlohmann::json::parse(seen.out);
    const std::string text = moment["channels"].dump() + ReadFile(dir_ / (name + ".svg"));
    EXPECT_THAT(text, HasSubstr("\"reward\""));
    EXPECT_THAT(text, HasSubstr("<svg"));
    if (whole.empty())
      whole = text;
    else
      EXPECT_EQ(text, whole);
  }
}

}  // namespace
}  // namespace backplane::end_to_end
