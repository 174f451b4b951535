// Stopped trials: the shim's clock ends them and names the stopped process.
#include <gmock/gmock.h>
#include <signal.h>

#include "batch.hpp"

namespace backplane::end_to_end {
namespace {

using testing::HasSubstr;

class SilentTrial : public BatchTest {
 protected:
  // Longer than the plugins take to load.
  static constexpr int kHang_s = kSanitized ? 15 : 3;

  static std::string Limits() { return "resources: {hang_timeout: " + std::to_string(kHang_s) + "s}\n"; }
  std::string Why(const std::string& experiment) const {
    const nlohmann::json result = Result(experiment);
    EXPECT_EQ(result["outcome"], "timeout") << result;
    EXPECT_EQ(result["state"], "FAILED");
    return result["error"];
  }
};

TEST_F(SilentTrial, EndsAfterStoppingItselfAndTheBatchContinues) {
  Write("self.yaml", std::string("experiment: self") + kMisbehaving + Limits() +
                         "sweep: {list: [{name: bad, env.options.how: stop_itself}, {name: good, env.options.how: not}]}\n");
  const Finished run = Run("run self.yaml --jobs 1" + kWithFixtures);
  EXPECT_EQ(run.exit, 3) << run.err;
  const auto trials = States("self", "env.options.how");
  EXPECT_EQ(trials.at("not").state, "COMPLETED");
  EXPECT_EQ(trials.at("stop_itself").outcome, "timeout");
  EXPECT_EQ(trials.at("stop_itself").why, "gave no sign of life for " + std::to_string(2 * kHang_s) +
                                              "s (2 x resources.hang_timeout) and was killed; it was stopped (state T)");
}

TEST_F(SilentTrial, EndsAfterBeingStopped) {
  Write("long.yaml",
        "experiment: long\nenv: {plugin: cartpole}\nlearner: {plugin: random, options: {horizon: 64}}\n"
        "rollout: {num_env_runners: 1, num_envs_per_env_runner: 4}\nbudget: {wall_time: 600s}\n" +
            Limits());
  const pid_t pid = Start("run long.yaml");
  ASSERT_TRUE(Begins("long")) << ErrorsOf(pid);
  for (const pid_t trial : TrialProcesses()) kill(trial, SIGSTOP);
  EXPECT_EQ(Wait(pid).exit, 1);
  EXPECT_THAT(Why("long"), HasSubstr("it was stopped (state T)"));
  EXPECT_EQ(Result("long")["hang"], true);
}

TEST_F(SilentTrial, NamesStoppedCommand) {
  Write("command.yaml", "experiment: command\nlearner: {command: [sh, -c, \"echo begun; kill -STOP $$\"]}\n" + Limits());
  EXPECT_EQ(Run("run command.yaml").exit, 1);
  EXPECT_THAT(Why("command"), testing::ContainsRegex("its process [0-9]+ \\(sh\\) was stopped \\(state T\\)"));
}

TEST_F(SilentTrial, EndsIfTheProcessAboveItsCommandIsStopped) {
  Write("command.yaml", "experiment: command\nlearner: {command: [sh, -c, \"echo begun; sleep 600\"]}\n" + Limits());
  const pid_t pid = Start("run command.yaml");
  ASSERT_TRUE(Until([&] { return ReadFile(Attempt("command") / "stdout.log").find("begun") != std::string::npos; }));
  for (const pid_t trial : TrialProcesses()) kill(trial, SIGSTOP);
  EXPECT_EQ(Wait(pid).exit, 1);
  EXPECT_THAT(Why("command"), HasSubstr("it was stopped (state T)"));
  EXPECT_THAT(Processes({"600"}), testing::IsEmpty());
}

TEST_F(SilentTrial, SurvivesSuspendedJob) {
  Write("long.yaml",
        "experiment: long\nenv: {plugin: cartpole}\nlearner: {plugin: random, options: {horizon: 64}}\n"
        "rollout: {num_env_runners: 1, num_envs_per_env_runner: 4}\nbudget: {wall_time: 2s}\n" +
            Limits());
  const pid_t pid = Start("run long.yaml");
  ASSERT_TRUE(Begins("long")) << ErrorsOf(pid);
  const std::vector<pid_t> trials = TrialProcesses();
  kill(pid, SIGSTOP);
  for (const pid_t trial : trials) kill(trial, SIGSTOP);
  sleep(3 * kHang_s);  // the whole job is suspended
  for (const pid_t trial : trials) kill(trial, SIGCONT);
  kill(pid, SIGCONT);
  const Finished run = Wait(pid);
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_EQ(Result("long")["state"], "COMPLETED");
}

TEST_F(SilentTrial, EndsInReplayAndRenderAfterBeingStopped) {
  const std::filesystem::path go = Write("go", "");
  Write("brief.yaml", "experiment: brief" + std::string(kMisbehaving) + Limits());
  ASSERT_EQ(
      Run("run brief.yaml --set env.options.how=wait_in_create --set env.options.mark=" + go.string() + kWithFixtures).exit, 0);
  std::filesystem::remove(go);  // makes a replay wait until it is stopped
  const std::string trial = " outputs/brief " + Attempt("brief").parent_path().filename().string();
  for (const std::string command : {"replay", "render"}) {
    const pid_t pid = Start(command + trial);
    std::vector<pid_t> processes;
    const std::string word = command == "render" ? "--film" : "run-trial";
    ASSERT_TRUE(Until([&] { return !(processes = Processes({word}, {kShim})).empty(); })) << ErrorsOf(pid);
    for (const pid_t process : processes) kill(process, SIGSTOP);
    const bool ends = Until([&] { return Processes({command}).empty(); }, 4 * kHang_s);
    if (!ends) kill(pid, SIGKILL);
    const Finished run = Wait(pid);
    EXPECT_TRUE(ends) << command;
    EXPECT_EQ(run.exit, 1) << run.err;
    EXPECT_THAT(run.err, testing::ContainsRegex("the trial's process gave no sign of life for .* was killed; it was stopped"));
    EXPECT_THAT(run.err, HasSubstr("hint: "));
  }
}

TEST_F(SilentTrial, WouldRunAgainAfterItsBatchWasKilled) {
  Write("long.yaml",
        "experiment: long\nenv: {plugin: cartpole}\nlearner: {plugin: random, options: {horizon: 64}}\n"
        "rollout: {num_env_runners: 1, num_envs_per_env_runner: 4}\nbudget: {wall_time: 600s}\n");
  const pid_t pid = Start("run long.yaml");
  ASSERT_TRUE(Begins("long")) << ErrorsOf(pid);
  kill(pid, SIGKILL);
  Wait(pid);
  const nlohmann::json preview = nlohmann::json::parse(Run("run long.yaml --dry-run --json").out);
  EXPECT_EQ(preview["trials"][0]["would_run"], true) << preview;
}

TEST_F(SilentTrial, ReportsWallTimeAsItsLimit) {
  Write("wall.yaml",
        "experiment: wall\nenv: {plugin: cartpole}\nlearner: {plugin: random, options: {horizon: 64}}\n"
        "rollout: {num_env_runners: 1, num_envs_per_env_runner: 4}\nbudget: {iterations: 1000000000}\n"
        "resources: {wall_time: " +
            std::string(kSanitized ? "15s" : "2s") + "}\n");
  const Finished run = Run("run wall.yaml");
  EXPECT_EQ(run.exit, 1) << run.err;
  const std::string why = std::string("took longer than resources.wall_time (") + (kSanitized ? "15s)" : "2s)");
  EXPECT_EQ(Why("wall"), why);
  EXPECT_THAT(run.err, HasSubstr(why));
  EXPECT_THAT(run.err + run.out, testing::Not(HasSubstr("on request")));
}

}  // namespace
}  // namespace backplane::end_to_end
