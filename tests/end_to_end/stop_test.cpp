// Ctrl-C, and going on afterwards.
#include <gmock/gmock.h>
#include <signal.h>

#include "places.hpp"
#include "program.hpp"

namespace backplane::end_to_end {
namespace {

class Stop : public ProgramTest {
 protected:
  static constexpr char kLong[] = R"(experiment: long
env: {plugin: cartpole}
learner: {plugin: random, options: {horizon: 64}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 4}
budget: {wall_time: 120s}
)";
};

TEST_F(Stop, OneCtrlCEndsTheTrialWithASummary) {
  Write("long.yaml", kLong);
  const pid_t pid = Start("run long.yaml");
  ASSERT_TRUE(Begins("long")) << ErrorsOf(pid);
  kill(pid, SIGINT);
  const Finished run = Wait(pid);
  EXPECT_EQ(run.exit, 130) << run.err;
  EXPECT_EQ(Result("long")["state"], "KILLED");
  EXPECT_GT(Result("long")["env_steps"], 0);
  EXPECT_THAT(run.out, testing::HasSubstr("stopped, the same command goes on"));
  EXPECT_TRUE(std::filesystem::exists(Attempt("long").parent_path() / "checkpoint/checkpoint.bin"));
}

TEST_F(Stop, ARunStoppedAndResumedEqualsAnUninterruptedOne) {
  const std::string text = R"(
env: {plugin: cartpole}
learner: {plugin: ppo, options: {train_batch_size: 512, minibatch_size: 128, num_epochs: 8, normalize_obs: true, normalize_rewards: true, lr_schedule: linear}}
rollout: {num_env_runners: 2, num_envs_per_env_runner: 8}
budget: {iterations: )" + std::to_string(kSanitized ? 24 : 120) +
                           "}\n";
  Write("whole.yaml", "experiment: whole" + text);
  Write("parts.yaml", "experiment: parts" + text);
  ASSERT_EQ(Run("run whole.yaml").exit, 0);
  const pid_t pid = Start("run parts.yaml");
  ASSERT_TRUE(Begins("parts")) << ErrorsOf(pid);
  kill(pid, SIGINT);
  const Finished first = Wait(pid);
  ASSERT_EQ(first.exit, 130) << first.err;
  const Finished second = Run("run parts.yaml");
  ASSERT_EQ(second.exit, 0) << second.err;
  ASSERT_FALSE(Metrics("parts", 2).empty());
  EXPECT_EQ(Metrics("whole").back(), Metrics("parts", 2).back());
  const std::string weights = LearnerState(Attempt("whole").parent_path());
  EXPECT_GT(weights.size(), 1000u);
  EXPECT_TRUE(weights == LearnerState(Attempt("parts").parent_path())) << "the learners' states differ";
}

// The iteration is learned and its line is made when the stop comes: the next attempt only plays the evaluation again.
TEST_F(Stop, KeepsIterationWhoseEvaluationItInterrupts) {
  const std::string text = R"(
env: {plugin: misbehaves}
learner: {plugin: ppo, options: {train_batch_size: 64, minibatch_size: 32, num_epochs: 2, hidden: [8]}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 4}
budget: {iterations: 3}
evaluation: {episodes: 60, every_iterations: 2, env: {options: {sleep_us: )";
  const std::string path = " --plugin-path " BACKPLANE_BINARY_DIR "/tests/fixtures/plugins";
  Write("whole.yaml", "experiment: whole" + text + "1}}}\n");
  Write("parts.yaml", "experiment: parts" + text + "3000}}}\n");
  const Finished whole = Run("run whole.yaml" + path);
  ASSERT_EQ(whole.exit, 0) << whole.err;
  const pid_t pid = Start("run parts.yaml" + path);
  const auto evaluates = [&] {
    return ReadFile(Attempt("parts") / "status").find(std::string("eval") + '\0') != std::string::npos;
  };
  ASSERT_TRUE(Until(evaluates)) << ErrorsOf(pid);
  kill(pid, SIGINT);
  const Finished first = Wait(pid);
  EXPECT_EQ(first.exit, 130) << first.err;
  ASSERT_EQ(Metrics("parts").size(), 1u) << "it was stopped elsewhere";
  const std::string kept = ReadFile(Attempt("parts").parent_path() / "checkpoint/checkpoint.bin");
  EXPECT_THAT(kept, testing::AllOf(testing::HasSubstr("\"iterations\":2"), testing::HasSubstr("\"unwritten\":{")));
  const Finished second = Run("run parts.yaml" + path);
  ASSERT_EQ(second.exit, 0) << second.err;
  std::vector<nlohmann::json> lines = Metrics("parts");
  const std::vector<nlohmann::json> rest = Metrics("parts", 2);
  lines.insert(lines.end(), rest.begin(), rest.end());
  EXPECT_EQ(lines, Metrics("whole"));
  EXPECT_TRUE(rest.at(0).contains("eval"));
  EXPECT_EQ(Result("parts")["evaluation_returns"], Result("whole")["evaluation_returns"]);
  EXPECT_TRUE(LearnerState(Attempt("whole").parent_path()) == LearnerState(Attempt("parts").parent_path()));
}

}  // namespace
}  // namespace backplane::end_to_end
