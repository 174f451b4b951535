// dev: each build of a plugin replaces its predecessor. bench/dev_rebuilds.py measures the time.
#include <gmock/gmock.h>
#include <signal.h>

#include <fstream>
#include <thread>

#include "batch.hpp"

namespace backplane::end_to_end {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class DevCommand : public BatchTest {
 protected:
  // Overwrites the existing file, as a linker or a copy does.
  void Put(const std::string& bytes, const std::string& name) { std::ofstream(dir_ / name) << bytes; }
  bool Says(pid_t dev, const std::string& words) const {
    return Until([&] { return ErrorsOf(dev).find(words) != std::string::npos; }, 120);
  }
  // Waits until this many builds have finished an iteration.
  bool Iterate(const fs::path& out, int builds) const {
    return Until(
        [&] {
          const auto entries = fs::recursive_directory_iterator(dir_ / out);
          return std::count_if(begin(entries), end(entries), [](const fs::directory_entry& entry) {
                   return entry.path().filename() == "metrics.jsonl" && entry.file_size() > 0;
                 }) == builds;
        },
        120);
  }
  Finished End(pid_t dev) {
    kill(dev, SIGINT);
    return Wait(dev);
  }
};

TEST_F(DevCommand, AWholeBuildReplacesTheLastAndComparesTheirNumbers) {
  const std::string bytes = ReadFile(BACKPLANE_PLUGIN_DIR "/env_cartpole.so");
  Put(bytes, "env_cartpole.so");
  Write("dev.yaml", R"(env: cartpole
learner: {plugin: ars}
budget: {iterations: 1000000}
monitors: []
)");
  const pid_t dev = Start("dev env_cartpole.so dev.yaml --out builds");
  ASSERT_TRUE(Says(dev, "build 1 runs ")) << ErrorsOf(dev);
  ASSERT_TRUE(Iterate("builds", 1));
  Put(bytes.substr(0, bytes.size() / 2), "env_cartpole.so");
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_FALSE(TrialProcesses().empty());  // the first build runs from a copy of its file
  EXPECT_THAT(ErrorsOf(dev), testing::AllOf(Not(HasSubstr("build 2")), Not(HasSubstr("error"))));
  Put(bytes, "env_cartpole.so");
  ASSERT_TRUE(Says(dev, "build 2 runs ")) << ErrorsOf(dev);
  ASSERT_TRUE(Iterate("builds", 2));
  EXPECT_EQ(TrialProcesses().size(), 1u);
  const Finished ended = End(dev);
  EXPECT_EQ(ended.exit, 0) << ended.err;
  EXPECT_TRUE(TrialProcesses().empty());
  EXPECT_THAT(ended.err, HasSubstr("build 2 starts, with the learner of build 1\n"));
  EXPECT_THAT(ended.out,
              testing::ContainsRegex("build 1 +build 2 +change\niterations +[0-9,]+ +[0-9,]+\nsteps/s +[0-9,]+ +[0-9,]+ "));
  EXPECT_THAT(ended.out, testing::ContainsRegex("build 1 +build 2 +change\niterations +[0-9,]+ +running\n")) << "before that";
}

TEST_F(DevCommand, ACrashIsShownAndTheNextBuildResumesTheLastState) {
  const std::string fixture = BACKPLANE_BINARY_DIR "/tests/fixtures/plugins/env_misbehaves.so";
  const auto write = [&](const std::string& how) {
    Write("dev.yaml", "env: {plugin: misbehaves, options: {how: " + how + R"(}}
learner: {plugin: ars}
budget: {iterations: 1000000}
monitors: []
)");
  };
  write("not");
  const pid_t dev = Start("dev " + fixture + " dev.yaml");
  ASSERT_TRUE(Says(dev, "build 1 runs ")) << ErrorsOf(dev);
  write("segv");
  ASSERT_TRUE(Says(dev, "build 2 failed: ")) << ErrorsOf(dev);
  write("not");
  ASSERT_TRUE(Says(dev, "build 3 runs ")) << ErrorsOf(dev);
  const Finished ended = End(dev);
  EXPECT_EQ(ended.exit, 0) << ended.err;
  EXPECT_THAT(ended.err, testing::AllOf(HasSubstr("SIGSEGV"), HasSubstr("build 3 starts, with the learner of build 1\n")));
  EXPECT_TRUE(TrialProcesses().empty());
}

TEST_F(DevCommand, ABrokenRuleIsReportedForTheBuiltFile) {
  if (kSanitized) GTEST_SKIP() << "there is time for few cases under a sanitizer";
  unsetenv("BACKPLANE_VALIDATE");
  const std::string fixture = BACKPLANE_BINARY_DIR "/tests/fixtures/plugins/env_flawed.so";
  Write("dev.yaml",
        "env: {plugin: flawed, options: {flaw: reward_unwritten}}\nlearner: random\nbudget: {iterations: 9}\nmonitors: []\n");
  const pid_t dev = Start("dev " + fixture + " dev.yaml");
  ASSERT_TRUE(Says(dev, "waiting for the next build")) << ErrorsOf(dev);
  EXPECT_THAT(End(dev).err,
              testing::AllOf(HasSubstr("writes-every-output"), HasSubstr("`backplane plugin validate " + fixture + "`"),
                             Not(HasSubstr("/build-1/"))));
}

TEST_F(DevCommand, ReportsWhyAStateIsRejected) {
  const auto write = [&](const std::string& hidden) {
    Write("dev.yaml", "env: cartpole\nlearner: {plugin: ppo, options: {train_batch_size: 64, minibatch_size: 32, hidden: [" +
                          hidden + "]}}\nbudget: {iterations: 1000000}\nmonitors: []\n");
  };
  write("8");
  const pid_t dev = Start("dev " BACKPLANE_PLUGIN_DIR "/env_cartpole.so dev.yaml");
  ASSERT_TRUE(Says(dev, "build 1 runs ")) << ErrorsOf(dev);
  write("16");
  ASSERT_TRUE(Says(dev, "build 2 runs ")) << ErrorsOf(dev);
  const Finished ended = End(dev);
  EXPECT_THAT(ended.err,
              HasSubstr("build 2 starts from scratch because the state of build 1 does not fit: learner.ppo: load: "));
}

TEST_F(DevCommand, RejectsAnExperimentWithoutThePlugin) {
  Write("dev.yaml", "env: pendulum\nlearner: random\nbudget: {iterations: 2}\n");
  const Finished run = Run("dev " BACKPLANE_PLUGIN_DIR "/env_cartpole.so dev.yaml");
  EXPECT_EQ(run.exit, 2);
  EXPECT_THAT(run.err, testing::AllOf(HasSubstr("(env.cartpole), got"), HasSubstr("got env.pendulum and learner.random")));
}

}  // namespace
}  // namespace backplane::end_to_end
