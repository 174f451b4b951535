// The plugin check before a run: its findings, and interrupts from outside.
#include <gmock/gmock.h>
#include <signal.h>

#include <fstream>

#include "batch.hpp"

namespace backplane::end_to_end {
namespace {

using testing::HasSubstr;

class Check : public BatchTest {
 protected:
  // Waits for a check process other than `before`; 0 if there is none.
  pid_t CheckAfter(pid_t before = 0) const {
    pid_t check = 0;
    Until([&] {
      for (const pid_t pid : Processes({"run-trial", "--check"}, {kShim}))
        if (pid != before) check = pid;
      return check != 0;
    });
    return check;
  }
};

TEST_F(Check, ReportsAPairThatDoesNotFitBeforeAnythingStarts) {
  Write("pairs.yaml", R"(experiment: pairs
env: {plugin: cartpole}
learner: {plugin: random}
budget: {iterations: 2}
monitors: []
sweep:
  grid:
    env: [{plugin: cartpole}, {plugin: pendulum}]
    learner: [{plugin: random}, {plugin: ppo, options: {use_sde: true, train_batch_size: 64, minibatch_size: 32}}]
)");
  const Finished refused = Run("run pairs.yaml");
  EXPECT_EQ(refused.exit, 2);
  EXPECT_THAT(refused.err, testing::AllOf(HasSubstr("learner.ppo"), HasSubstr("env=cartpole"), HasSubstr("--skip-invalid")));
  for (const nlohmann::json& event : Events("pairs")) EXPECT_NE(event["kind"], "attempt.start");
  const Finished skipped = Run("run pairs.yaml --skip-invalid");
  EXPECT_EQ(skipped.exit, 0) << skipped.err;
  std::map<std::string, int> states;
  for (const nlohmann::json& event : Events("pairs"))
    if (event.contains("state")) ++states[event["state"]];
  EXPECT_EQ(states["COMPLETED"], 3);
  EXPECT_EQ(states["SKIPPED"], 1);
}

TEST_F(Check, RunsOnceMoreAfterAKillFromOutside) {
  Write("wait.yaml", std::string("experiment: wait") + kMisbehaving);
  const std::filesystem::path go = dir_ / "go";
  const pid_t pid =
      Start("run wait.yaml --set env.options.how=wait_in_create --set env.options.mark=" + go.string() + kWithFixtures);
  const pid_t first = CheckAfter();
  ASSERT_GT(first, 0);
  kill(first, SIGKILL);
  ASSERT_GT(CheckAfter(first), 0);
  std::ofstream(go) << "go";
  const Finished run = Wait(pid);
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_EQ(Result("wait")["state"], "COMPLETED");
}

TEST_F(Check, BlamesNoLineAfterTwoKills) {
  Write("wait.yaml", std::string("experiment: wait") + kMisbehaving);
  const std::string command =
      "run wait.yaml --set env.options.how=wait_in_create --set env.options.mark=" + (dir_ / "go").string() + kWithFixtures;
  const pid_t pid = Start(command);
  pid_t before = 0;
  for (int i = 0; i < 2; ++i) {
    const pid_t check = CheckAfter(before);
    ASSERT_GT(check, 0);
    kill(check, SIGKILL);
    before = check;
  }
  const Finished run = Wait(pid);
  EXPECT_EQ(run.exit, 1);
  EXPECT_THAT(run.err, testing::AllOf(HasSubstr("failed twice: killed from outside by SIGKILL"),
                                      HasSubstr("the same command repeats the killed checks"),
                                      testing::Not(HasSubstr("wait.yaml:")), testing::Not(HasSubstr("error in"))));
  std::ofstream(dir_ / "go") << "go";
  EXPECT_EQ(Run(command).exit, 0);
}

TEST_F(Check, ReportsAfterACtrlCThatNoTrialWasStarted) {
  Write("wait.yaml", std::string("experiment: wait") + kMisbehaving);
  const std::string command =
      "run wait.yaml --set env.options.how=wait_in_create --set env.options.mark=" + (dir_ / "go").string() + kWithFixtures;
  const pid_t pid = Start(command);
  ASSERT_GT(CheckAfter(), 0);
  kill(pid, SIGINT);
  const Finished run = Wait(pid);
  EXPECT_EQ(run.exit, 130);
  EXPECT_THAT(run.err, HasSubstr("stopped during the plugin check; no trial was started; the same command resumes\n"));
  EXPECT_EQ(run.out, "");
  std::ofstream(dir_ / "go") << "go";
  const Finished again = Run(command);
  EXPECT_EQ(again.exit, 0) << again.err;
}

// Two points, three seeds and two learners; each crash has different last words.
TEST_F(Check, ReportsAPluginThatCrashesOnce) {
  Write("crash.yaml", std::string("experiment: crash") + kMisbehaving +
                          "sweep: {grid: {env.options.size: [1, 2], learner.options.horizon: [16, 32]}, seeds: {n: 3}}\n");
  const Finished run = Run("run crash.yaml --set env.options.how=segv_with_words_in_create" + kWithFixtures);
  EXPECT_EQ(run.exit, 1);
  const auto count = [&](const std::string& text) {
    size_t n = 0;
    for (size_t at = run.err.find(text); at != std::string::npos; at = run.err.find(text, at + 1)) ++n;
    return n;
  };
  EXPECT_EQ(count("died of SIGSEGV"), 1u) << run.err;
  EXPECT_EQ(count("stderr.log"), 1u) << run.err;
  EXPECT_THAT(run.err, testing::AllOf(HasSubstr("crash.yaml:2:7: error: env.misbehaves"), HasSubstr("and 1 more)"),
                                      HasSubstr("1 error in crash.yaml")));
}

// Sealed before `seal` rejected it.
TEST_F(Check, WarnsOncePerFileOfSymbolsThatPluginsWouldShare) {
  Write("shares.yaml", R"(experiment: shares
env: {plugin: cartpole}
learner: {plugin: random, options: {horizon: 16}}
budget: {iterations: 1}
monitors: [exports_more]
sweep: {grid: {learner.options.horizon: [16, 32]}}
)");
  const Finished run = Run("run shares.yaml" + kWithFixtures);
  EXPECT_EQ(run.exit, 0) << run.err;
  const std::string words = "monitor_exports_more.so: expected bp_module_v1 as the only exported symbol";
  const size_t at = run.err.find(words);
  ASSERT_NE(at, std::string::npos) << run.err;
  EXPECT_EQ(run.err.find(words, at + 1), std::string::npos) << run.err;
  EXPECT_THAT(run.err, HasSubstr("$(backplane sdk --cflags)"));
}

// Broken rules of a plugin file that no trial has used yet.
class FastCheck : public BatchTest {
 protected:
  FastCheck() {
    unsetenv("BACKPLANE_VALIDATE");
    Write("flawed.yaml", R"(experiment: flawed
env: {plugin: flawed, options: {flaw: none}}
learner: {plugin: random, options: {horizon: 16}}
budget: {iterations: 2}
monitors: []
)");
  }
  Finished RunFlawed(const std::string& more) { return Run("run flawed.yaml " + more + kWithFixtures); }
};

TEST_F(FastCheck, ReportsABrokenRuleOnceBeforeTraining) {
  if (kSanitized) GTEST_SKIP() << "there is time for few cases";
  const Finished run = RunFlawed("--set env.options.flaw=reward_unwritten --sweep learner.options.horizon=16,32");
  EXPECT_EQ(run.exit, 1) << run.err;
  const std::string words = "env.flawed breaks the rule 'writes-every-output': ";
  const size_t at = run.err.find(words);
  ASSERT_NE(at, std::string::npos) << run.err;
  EXPECT_EQ(run.err.find(words, at + 1), std::string::npos) << run.err;
  EXPECT_THAT(run.err, testing::AllOf(HasSubstr("In step, channel 'reward', element 0 of row 0: expected a number written "
                                                "by every call, got the previous memory. Write the element"),
                                      HasSubstr("env_flawed.so` tests every rule"), HasSubstr("flawed.yaml:2:7: error")));
  for (const nlohmann::json& event : Events("flawed")) EXPECT_NE(event["kind"], "attempt.start");
}

TEST_F(FastCheck, ACrashBreaksTheRule) {
  if (kSanitized) GTEST_SKIP() << "there is time for few cases";
  const Finished run = RunFlawed("--set env.options.flaw=crashes");
  EXPECT_EQ(run.exit, 1) << run.err;
  EXPECT_THAT(run.err, testing::AllOf(HasSubstr("env.flawed fails in the case 'stays-in-its-buffers' (crash)"),
                                      HasSubstr("got SIGSEGV")));
}

TEST_F(FastCheck, AValidatedFileIsNotTestedAgain) {
  ASSERT_EQ(RunFlawed("").exit, 0);
  const std::filesystem::path cache = dir_ / "cache/backplane/validated";
  if (!std::filesystem::exists(cache)) GTEST_SKIP() << "this build validates no files";
  EXPECT_EQ(RunFlawed("--fresh --set env.options.flaw=reward_unwritten").exit, 0);
  std::filesystem::remove_all(cache);
  if (kSanitized) return;
  EXPECT_EQ(RunFlawed("--fresh --set env.options.flaw=reward_unwritten").exit, 1);
}

TEST_F(FastCheck, IsSkippedOnRequestAndRunsWithoutACache) {
  setenv("BACKPLANE_VALIDATE", "off", 1);
  EXPECT_EQ(RunFlawed("--set env.options.flaw=reward_unwritten").exit, 0);
  unsetenv("BACKPLANE_VALIDATE");
  setenv("XDG_CACHE_HOME", "/proc/no/such/folder", 1);
  const Finished run = RunFlawed("--fresh");
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_EQ(run.err.find("/proc/no"), std::string::npos) << run.err;
}

TEST_F(FastCheck, IsLeftOutWithOneLineIfItsProgramIsMissing) {
  const std::string report = "exec " BACKPLANE_BINARY_DIR "/bin/backplane-report \"$@\"";
  const Finished run =
      RunBesideReportProgram(report, "run flawed.yaml --set env.options.flaw=reward_unwritten" + kWithFixtures);
  EXPECT_EQ(run.exit, 0) << run.err;
  const std::string line = "warning: skipping the quick checks of new plugin files: backplane-validate is not in " +
                           (dir_ / "bin").string() +
                           "; install Backplane's package again with pip or apt, or run `scripts/install --prefix " +
                           dir_.string() + "` in a clone\n";
  const size_t at = run.err.find(line);
  ASSERT_NE(at, std::string::npos) << run.err;
  EXPECT_EQ(run.err.find("backplane-validate", at + line.size()), std::string::npos) << run.err;
  EXPECT_EQ(Result("flawed")["state"], "COMPLETED");
}

}  // namespace
}  // namespace backplane::end_to_end
