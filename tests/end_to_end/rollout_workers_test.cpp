// Trials whose rollout workers play rollouts, under the real program. Every number is compared with a trial without them.
#include <gmock/gmock.h>
#include <signal.h>

#include "places.hpp"
#include "program.hpp"

namespace backplane::end_to_end {
namespace {

using testing::HasSubstr;

class RolloutWorkers : public ProgramTest {
 protected:
  // Episodes end in every rollout. Three chunks of four envs.
  static std::string Text(const std::string& name, const std::string& parts, const std::string& more) {
    return "experiment: " + name + "\n" + parts + "rollout: {num_env_runners: 3, num_envs_per_env_runner: 4}\n" + more;
  }
  std::string Trial(const std::string& name) { return Attempt(name).parent_path().string(); }
  std::vector<pid_t> WorkerProcesses() const { return Processes({"play"}); }
  std::string Fingerprints(const std::string& name, int attempt = 1) const {
    return ReadFile(Attempt(name, attempt) / "fingerprints.bin");
  }
  void ExpectSameBits(const std::string& name, const std::string& whole) {
    EXPECT_GT(Fingerprints(whole).size(), 100u);
    EXPECT_EQ(Fingerprints(name), Fingerprints(whole)) << name;
    EXPECT_EQ(CheckpointWithoutTimes(Trial(name)), CheckpointWithoutTimes(Trial(whole))) << name;
    EXPECT_EQ(Values(name), Values(whole)) << name;
  }
};

constexpr char kPpo[] =
    "env: {plugin: cartpole}\n"
    "learner: {plugin: ppo, options: {train_batch_size: 480, minibatch_size: 120, num_epochs: 2, hidden: [16], normalize_obs: "
    "true}}\n";
constexpr char kMappoOfWorkers[] =
    "env: {plugin: uav_grid, options: {max_steps: 15, grid_size: 16, n_obstacles: 9}}\n"
    "learner: {plugin: mappo, options: {train_batch_size: 240, num_epochs: 2, hidden: [16]}}\n";
// Its policy is its whole state.
constexpr char kRandomOfPendulum[] = "env: {plugin: pendulum}\nlearner: {plugin: random, options: {horizon: 30}}\n";

TEST_F(RolloutWorkers, GiveTheSameBitsForAnyNumber) {
  for (const auto& [learner, parts] : {std::pair{"ppo", kPpo}, {"mappo", kMappoOfWorkers}, {"random", kRandomOfPendulum}}) {
    const std::string whole = std::string(learner) + "0";
    for (const int workers : kLooksForRaces ? std::vector{0, 2} : std::vector{0, 1, 2, 4}) {
      if (workers == 1 && std::string(learner) == "random") continue;
      const std::string name = learner + std::to_string(workers);
      Write(name + ".yaml", Text(name, parts, "budget: {iterations: 5}\nevaluation: {episodes: 3, every_iterations: 4}\n"));
      const Finished run = Run("run " + name + ".yaml --set rollout.workers=" + std::to_string(workers));
      ASSERT_EQ(run.exit, 0) << run.err;
      EXPECT_EQ(std::filesystem::exists(Attempt(name) / "worker-1.log"), workers > 0);
      if (workers > 0) ExpectSameBits(name, whole);
      const std::string warnings = Result(name)["warnings"].dump();
      const bool surplus = workers == 4 && std::string(learner) != "random";  // may ask for candidates later
      EXPECT_EQ(warnings == "[]", !surplus) << warnings;
      EXPECT_EQ(warnings.find("1 of 4 rollout workers were ended, because the envs form 3 chunks") != std::string::npos,
                surplus);
    }
  }
}

TEST_F(RolloutWorkers, TheirTimeIsInThePhases) {
  Write("time.yaml", Text("time", kPpo, "budget: {iterations: 5}\n"));
  ASSERT_EQ(Run("run time.yaml --set rollout.workers=2").exit, 0);
  double env_step = 0, sum = 0;
  const nlohmann::json result = Result("time");
  for (const auto& phase : result["phases"]) {
    if (phase["name"] == "env_step") env_step = phase["seconds"];
    sum += phase["share"].get<double>();
  }
  EXPECT_GT(env_step, 0) << "no thread of the trial has stepped an env";
  EXPECT_NEAR(sum, 1, 0.02);
}

TEST_F(RolloutWorkers, KilledInEveryIterationCostNoResult) {
  const std::string more = "budget: {iterations: 150}\n";
  const std::string parts = std::string(kPpo).replace(std::string(kPpo).find("480"), 3, "9600");
  Write("whole.yaml", Text("whole", parts, more));
  ASSERT_EQ(Run("run whole.yaml").exit, 0);
  Write("killed.yaml", Text("killed", parts, more));
  const pid_t pid = Start("run killed.yaml --set rollout.workers=2");
  ASSERT_TRUE(Until([&] { return Metrics("killed").size() >= 1; })) << ErrorsOf(pid);
  size_t iterations = 0, kills = 0;
  const auto ended = [&] { return Processes({"run-trial"}).empty(); };
  // One in each iteration, then every one that appears, until the trial plays by itself.
  while (!ended() && iterations < 140) {
    const size_t now = Metrics("killed").size();
    const std::vector<pid_t> workers = WorkerProcesses();
    if ((now > iterations || now >= 12) && !workers.empty()) {
      kill(workers[kills++ % workers.size()], SIGKILL);
      iterations = now;
    }
    Until([] { return false; }, 0.005);
  }
  const Finished run = Wait(pid);
  ASSERT_EQ(run.exit, 0) << run.err;
  EXPECT_GT(kills, 10u) << "the trial should be long enough to lose many";
  ExpectSameBits("killed", "whole");
  const std::string warnings = Result("killed")["warnings"].dump();
  EXPECT_THAT(warnings, HasSubstr("was ended by signal 9 (Killed)"));
  EXPECT_THAT(warnings, HasSubstr("it is started again"));
  EXPECT_THAT(warnings, HasSubstr("the trial plays its envs"));
}

TEST_F(RolloutWorkers, ThatHangAreStartedAgainAndCostNoResult) {
  const std::string more = "budget: {iterations: 150}\nresources: {hang_timeout: 15s}\n";
  Write("whole.yaml", Text("whole", kPpo, more));
  ASSERT_EQ(Run("run whole.yaml").exit, 0);
  Write("hung.yaml", Text("hung", kPpo, more));
  const pid_t pid = Start("run hung.yaml --set rollout.workers=2");
  ASSERT_TRUE(Until([&] { return Metrics("hung").size() >= 2; })) << ErrorsOf(pid);
  const std::vector<pid_t> workers = WorkerProcesses();
  ASSERT_EQ(workers.size(), 2u) << "the trial should be long enough to lose one";
  kill(workers[0], SIGSTOP);
  const Finished run = Wait(pid);
  ASSERT_EQ(run.exit, 0) << run.err;
  ExpectSameBits("hung", "whole");
  EXPECT_THAT(Result("hung")["warnings"].dump(),
              testing::ContainsRegex("it gave no sign of life for 5 s and was ended: process " + std::to_string(workers[0]) +
                                     ".*it is started again"));
}

TEST_F(RolloutWorkers, AStoppedTrialResumesWithAnyNumber) {
  const std::string more = "budget: {iterations: 150}\ncheckpoint: {every_iterations: 7}\n";
  Write("whole.yaml", Text("whole", kPpo, more));
  ASSERT_EQ(Run("run whole.yaml").exit, 0);
  for (const auto& [first, second] : {std::pair{2, 0}, {0, 3}}) {
    const std::string name = "parts" + std::to_string(first);
    Write(name + ".yaml", Text(name, kPpo, more));
    const pid_t pid = Start("run " + name + ".yaml --set rollout.workers=" + std::to_string(first));
    ASSERT_TRUE(Until([&] { return Metrics(name).size() >= 2; })) << ErrorsOf(pid);
    kill(pid, SIGINT);
    ASSERT_EQ(Wait(pid).exit, 130) << "the trial should be long enough to be stopped";
    EXPECT_TRUE(WorkerProcesses().empty()) << "workers end with their trial";
    const Finished run = Run("run " + name + ".yaml --set rollout.workers=" + std::to_string(second));
    ASSERT_EQ(run.exit, 0) << run.err;
    EXPECT_EQ(Metrics(name, 2).back(), Metrics("whole").back());
    EXPECT_EQ(LearnerState(Trial(name)), LearnerState(Trial("whole")));
  }
}

// A limit on file sizes leaves no room for the rollouts, but for all files of the trial.
TEST_F(RolloutWorkers, WithoutSharedMemoryGiveTheSameBits) {
  for (const char* name : {"whole", "sent"})
    Write(std::string(name) + ".yaml", Text(name, kMappoOfWorkers, "budget: {iterations: 3}\n"));
  ASSERT_EQ(Run("run whole.yaml").exit, 0);
  const Finished run =
      Wait(StartCommand("ulimit -f 2048; exec " BACKPLANE_BINARY_DIR "/bin/backplane run sent.yaml --set rollout.workers=2"));
  ASSERT_EQ(run.exit, 0) << run.err;
  ExpectSameBits("sent", "whole");
  EXPECT_THAT(Result("sent")["warnings"].dump(),
              testing::MatchesRegex(".*rollout workers send their results over sockets, which takes longer, because the trial "
                                    "cannot get shared memory of [0-9]+ bytes: File too large.*"));
}

TEST_F(RolloutWorkers, AreRejectedForEnvsThatCannotSaveSingleRows) {
  Write("refused.yaml",
        "experiment: refused\nenv: {plugin: good}\nlearner: {plugin: random, options: {horizon: 8}}\n"
        "rollout: {workers: 2}\nbudget: {iterations: 2}\n"
        "plugin_path: [" BACKPLANE_BINARY_DIR "/tests/fixtures/plugins]\n");
  for (const char* command : {"run refused.yaml", "config check refused.yaml"}) {
    const Finished run = Run(command);
    EXPECT_EQ(run.exit, 2) << run.err;
    EXPECT_THAT(run.err, HasSubstr("env.good: the envs of a killed rollout worker are restored one by one, but this env does "
                                   "not save single envs (bp.env.snapshot/1); remove rollout.workers"));
    EXPECT_THAT(run.err, HasSubstr("refused.yaml:4:11: error"));
  }
}

}  // namespace
}  // namespace backplane::end_to_end
