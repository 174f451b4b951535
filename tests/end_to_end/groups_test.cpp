// Groups of agents under the real program: learner.mappo trains both, and its bits do not depend on threads, workers or kills.
#include <gmock/gmock.h>
#include <signal.h>

#include <regex>

#include "batch.hpp"

namespace backplane::end_to_end {
namespace {

using testing::HasSubstr;

class Groups : public ProgramTest {
 protected:
  std::string CommandOf(const std::string& name, const std::string& more = "", const std::string& learner = kMappo) {
    Write(name + ".yaml", "experiment: " + name + "\nenv: {plugin: hunters}\n" + learner +
                              "rollout: {num_env_runners: 2, num_envs_per_env_runner: 8}\nbudget: {iterations: 12}\n"
                              "evaluation: {episodes: 20}\n");
    return "run " + name + ".yaml " + more + kWithFixtures;
  }
  void RunIt(const std::string& name, const std::string& more = "", const std::string& learner = kMappo) {
    const Finished run = Run(CommandOf(name, more, learner));
    ASSERT_EQ(run.exit, 0) << run.err;
  }
  // `attempt`: the one that completes the trial.
  void ExpectSameBits(const std::string& name, int attempt = 1) {
    EXPECT_EQ(Run("compare --bits outputs/whole outputs/" + name).exit, 0) << name;
    const auto result = nlohmann::json::parse(ReadFile(Attempt(name, attempt) / "result.json"));
    EXPECT_EQ(result["evaluation"], Result("whole")["evaluation"]) << name;
  }

  static constexpr char kMappo[] =
      "learner: {plugin: mappo, options: {train_batch_size: 1024, hidden: [32, 32], reward_scale: 1, lr: 3.0e-3,\n"
      "  memory: {kind: gru, size: 8, sequence: 8}}}\n";
};

TEST_F(Groups, LearnTogether) {
  RunIt("both", "--set learner.options.memory={} --set budget.iterations=30");
  const nlohmann::json result = Result("both");
  const auto mean = [&](const char* who, const char* of) { return result[who]["metrics"][of]["mean"].get<double>(); };
  EXPECT_LT(mean("evaluation", "ep/length"), 0.6 * mean("floor_uniform", "ep/length"));
  const nlohmann::json metrics = Metrics("both").back()["metrics"];
  for (const char* each : {"hunters", "prey"})
    for (const char* name : {"train/policy_loss/", "train/value_loss/", "train/entropy/", "train/kl/", "train/reward/"})
      EXPECT_TRUE(metrics.contains(std::string(name) + each)) << name << each;
}

TEST_F(Groups, HaveTheSameBitsForAnyThreadsAndWorkers) {
  RunIt("whole");
  RunIt("threads1", "--set rollout.threads=1");
  RunIt("workers2", "--set rollout.workers=2");
  ExpectSameBits("threads1"), ExpectSameBits("workers2");
}

TEST_F(Groups, ResumeAfterAKill) {
  const std::string many = "--set budget.iterations=150", often = many + " --set checkpoint.every_iterations=3";
  RunIt("whole", many);
  const pid_t pid = Start(CommandOf("killed", often));
  ASSERT_TRUE(Until([&] { return Metrics("killed").size() >= 5; })) << ErrorsOf(pid);
  for (const pid_t trial : TrialProcesses()) kill(trial, SIGKILL);
  Wait(pid);
  const Finished again = Run(CommandOf("killed", often + " --only-failed"));
  ASSERT_EQ(again.exit, 0) << again.err;
  ExpectSameBits("killed", 2);
}

TEST_F(Groups, PassThroughWrappers) {
  const std::string wrappers = "[{sticky_actions: 0.3}, {frame_stack: 3}, {flatten: {channels: [prey/obs]}}, {time_limit: 9}]";
  const std::string command = CommandOf("wrapped");
  Write("wrapped.yaml", std::regex_replace(ReadFile(dir_ / "wrapped.yaml"), std::regex("plugin: hunters"),
                                           "plugin: hunters, wrappers: " + wrappers));
  const Finished run = Run(command);
  ASSERT_EQ(run.exit, 0) << run.err;
  EXPECT_LE(Result("wrapped")["evaluation"]["metrics"]["ep/length"]["mean"].get<double>(), 9);
}

TEST_F(Groups, AreRejectedByALearnerOfOneAgentAndAnExport) {
  const Finished run = Run(CommandOf("one", "", "learner: {plugin: ars}\n"));
  EXPECT_EQ(run.exit, 2);
  EXPECT_THAT(run.err, HasSubstr("expected one agent per row, got 3 agents in 2 groups"));
  RunIt("trained");
  const Finished exported = Run("export policy outputs/trained --to policy");
  EXPECT_NE(exported.exit, 0);
  EXPECT_THAT(exported.err, HasSubstr("expected agents with the same channels, but env.hunters has 2 groups of agents: "
                                      "hunters (2), prey (1)"));
}

}  // namespace
}  // namespace backplane::end_to_end
