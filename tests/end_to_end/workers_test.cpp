// Trials whose rollout workers play candidates, under the real program.
#include <gmock/gmock.h>
#include <signal.h>

#include "places.hpp"
#include "program.hpp"

namespace backplane::end_to_end {
namespace {

using testing::HasSubstr;

class Workers : public ProgramTest {
 protected:
  static std::string Text(const std::string& name, const std::string& learner, const std::string& more) {
    return "experiment: " + name + "\nenv: {plugin: cartpole}\nlearner: " + learner +
           "\nrollout: {num_env_runners: 3, num_envs_per_env_runner: 4}\n"
           "plugin_path: [" BACKPLANE_BINARY_DIR "/tests/fixtures/plugins]\n" +
           more;
  }
  std::string Trial(const std::string& name) { return Attempt(name).parent_path().string(); }
  std::vector<pid_t> WorkerProcesses() const { return Processes({"play"}); }
};

constexpr char kArs[] = "{plugin: ars, options: {num_dirs: 6, top_dirs: 3, episodes_per_dir: 2, noise_std: 0.1}}";

TEST_F(Workers, GiveTheSameBitsForAnyNumber) {
  const std::string learners[] = {kArs, "{plugin: climbs, options: {chunk: 5, rollout_every: 2}}"};
  for (const std::string& learner : learners) {
    std::vector<std::string> checkpoints, fingerprints, values;
    for (const int workers : kLooksForRaces ? std::vector{0, 2} : std::vector{0, 1, 2, 4}) {
      const std::string name = std::string(1, learner[9]) + std::to_string(workers);
      Write(name + ".yaml", Text(name, learner, "budget: {iterations: 6}\nevaluation: {episodes: 3, every_iterations: 4}\n"));
      const Finished run = Run("run " + name + ".yaml --set rollout.workers=" + std::to_string(workers));
      ASSERT_EQ(run.exit, 0) << run.err;
      EXPECT_EQ(std::filesystem::exists(Attempt(name) / "worker-1.log"), workers > 0);
      const std::string said = workers == 1 ? "1 process plays the episodes of the trial"
                                            : std::to_string(workers) + " processes play the episodes of the trial";
      EXPECT_EQ(run.err.find(said) < run.err.find("100 %"), workers > 0) << run.err;
      checkpoints.push_back(CheckpointWithoutTimes(Trial(name)));
      fingerprints.push_back(ReadFile(Attempt(name) / "fingerprints.bin"));
      values.push_back(Values(name));
      EXPECT_EQ(Result(name)["warnings"].size(), 0u) << Result(name)["warnings"];
    }
    EXPECT_GT(fingerprints[0].size(), 100u);
    EXPECT_THAT(checkpoints, testing::Each(checkpoints[0])) << learner;
    EXPECT_THAT(fingerprints, testing::Each(fingerprints[0])) << learner;
    EXPECT_THAT(values, testing::Each(values[0])) << learner;
  }
}

TEST_F(Workers, TheirTimeIsInThePhases) {
  Write("time.yaml", Text("time", kArs, "budget: {iterations: 5}\n"));
  const Finished run = Run("run time.yaml --set rollout.workers=2");
  ASSERT_EQ(run.exit, 0) << run.err;
  double env_step = 0, sum = 0;
  const nlohmann::json result = Result("time");
  for (const auto& phase : result["phases"]) {
    if (phase["name"] == "env_step") env_step = phase["seconds"];
    sum += phase["share"].get<double>();
  }
  EXPECT_GT(env_step, 0) << "no thread of the trial has stepped an env";
  EXPECT_NEAR(sum, 1, 0.02);
}

TEST_F(Workers, ATrialStoppedWithFourResumesWithOne) {
  const std::string more =
      "budget: {iterations: " + std::to_string(kSanitized ? 25 : 200) + "}\ncheckpoint: {every_iterations: 7}\n";
  Write("whole.yaml", Text("whole", kArs, more));
  ASSERT_EQ(Run("run whole.yaml").exit, 0);
  Write("parts.yaml", Text("parts", kArs, more));
  const pid_t pid = Start("run parts.yaml --set rollout.workers=4");
  ASSERT_TRUE(Until([&] { return Metrics("parts").size() >= 2; })) << ErrorsOf(pid);
  kill(pid, SIGINT);
  const Finished first = Wait(pid);
  ASSERT_EQ(first.exit, 130) << first.err << "the trial should be long enough to be stopped";
  EXPECT_TRUE(WorkerProcesses().empty()) << "workers end with their trial";
  const Finished second = Run("run parts.yaml --set rollout.workers=1");
  ASSERT_EQ(second.exit, 0) << second.err;
  EXPECT_EQ(Metrics("parts", 2).back(), Metrics("whole").back());
  EXPECT_EQ(LearnerState(Trial("parts")), LearnerState(Trial("whole")));
}

TEST_F(Workers, ThatAreKilledCostNoResult) {
  const std::string more = "budget: {iterations: " + std::to_string(kSanitized ? 25 : 600) + "}\n";
  Write("whole.yaml", Text("whole", kArs, more));
  ASSERT_EQ(Run("run whole.yaml").exit, 0);
  Write("killed.yaml", Text("killed", kArs, more));
  const pid_t pid = Start("run killed.yaml --set rollout.workers=2");
  for (const size_t left : {2, 1}) {
    ASSERT_TRUE(Until([&] { return Metrics("killed").size() >= 4 / left; })) << ErrorsOf(pid);
    const std::vector<pid_t> workers = WorkerProcesses();
    ASSERT_EQ(workers.size(), left) << "the trial should be long enough to lose both";
    kill(workers.front(), SIGKILL);
    ASSERT_TRUE(Until([&] { return WorkerProcesses().size() < left; }));
  }
  const Finished run = Wait(pid);
  ASSERT_EQ(run.exit, 0) << run.err;
  EXPECT_EQ(LearnerState(Trial("killed")), LearnerState(Trial("whole")));
  EXPECT_EQ(ReadFile(Attempt("killed") / "fingerprints.bin"), ReadFile(Attempt("whole") / "fingerprints.bin"));
  const std::string warnings = Result("killed")["warnings"].dump();
  EXPECT_THAT(warnings, HasSubstr("was ended by signal 9 (Killed)"));
  EXPECT_THAT(warnings, HasSubstr("the other workers play"));
  EXPECT_THAT(warnings, HasSubstr("the trial plays"));
}

TEST_F(Workers, ThatHangAreEndedAndCostNoResult) {
  const std::string more =
      "budget: {iterations: " + std::to_string(kSanitized ? 25 : 600) + "}\nresources: {hang_timeout: 15s}\n";
  Write("whole.yaml", Text("whole", kArs, more));
  ASSERT_EQ(Run("run whole.yaml").exit, 0);
  for (const size_t at_once : {1, 2}) {
    const std::string name = "hung" + std::to_string(at_once);
    Write(name + ".yaml", Text(name, kArs, more));
    const pid_t pid = Start("run " + name + ".yaml --set rollout.workers=2");
    ASSERT_TRUE(Until([&] { return Metrics(name).size() >= 2; })) << ErrorsOf(pid);
    const std::vector<pid_t> workers = WorkerProcesses();
    ASSERT_EQ(workers.size(), 2u) << "the trial should be long enough to lose them";
    for (size_t i = 0; i < at_once; ++i) kill(workers[i], SIGSTOP);
    const Finished run = Wait(pid);
    ASSERT_EQ(run.exit, 0) << run.err;
    EXPECT_EQ(LearnerState(Trial(name)), LearnerState(Trial("whole")));
    EXPECT_EQ(ReadFile(Attempt(name) / "fingerprints.bin"), ReadFile(Attempt("whole") / "fingerprints.bin"));
    const std::string warnings = Result(name)["warnings"].dump();
    for (size_t i = 0; i < at_once; ++i)
      EXPECT_THAT(warnings, HasSubstr("it gave no sign of life for 5 s and was ended: process " + std::to_string(workers[i])));
    EXPECT_THAT(warnings, HasSubstr(at_once == 1 ? "the other workers play" : "the trial plays"));
    EXPECT_TRUE(WorkerProcesses().empty());
  }
}

TEST_F(Workers, ThatHangWhileTheyStartAreEndedAndCostNoResult) {
  Write("starts.yaml", Text("starts", kArs, "budget: {iterations: 3}\nresources: {hang_timeout: 15s}\n"));
  const pid_t pid = Start("run starts.yaml --set rollout.workers=2");
  std::vector<pid_t> workers;
  ASSERT_TRUE(Until([&] { return !(workers = WorkerProcesses()).empty(); })) << ErrorsOf(pid);
  kill(workers.front(), SIGSTOP);
  const Finished run = Wait(pid);
  ASSERT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(Result("starts")["warnings"].dump(), HasSubstr("was ended: process " + std::to_string(workers.front())));
  EXPECT_TRUE(WorkerProcesses().empty());
}

TEST_F(Workers, APlanThatIsNoFunctionOfTheStateEndsTheTrial) {
  Write("forgets.yaml", Text("forgets", "{plugin: climbs, options: {forgets: true}}", "budget: {iterations: 2}\n"));
  EXPECT_EQ(Run("run forgets.yaml --out alone").exit, 0);
  const Finished run = Run("run forgets.yaml --set rollout.workers=2");
  EXPECT_EQ(run.exit, 1) << run.err;
  EXPECT_EQ(Result("forgets")["outcome"], "plugin");
  EXPECT_THAT(Result("forgets")["error"].dump(),
              HasSubstr("learner.climbs: plan: with the same saved state and limits, it asks for"));
}

TEST_F(Workers, AreRejectedForLearnersThatCannotUseThem) {
  Write("refused.yaml",
        "experiment: refused\nenv: {plugin: cartpole}\nlearner: {plugin: climbs, options: {row_exact: false}}\n"
        "rollout: {workers: 2}\nbudget: {iterations: 2}\nplugin_path: [" BACKPLANE_BINARY_DIR "/tests/fixtures/plugins]\n");
  for (const char* command : {"run refused.yaml", "config check refused.yaml"}) {
    const Finished run = Run(command);
    EXPECT_EQ(run.exit, 2) << run.err;
    EXPECT_THAT(run.err, HasSubstr("learner.climbs: its action for a row may depend on other rows"));
    EXPECT_THAT(run.err, HasSubstr("remove rollout.workers"));
    EXPECT_THAT(run.err, HasSubstr("refused.yaml:4:11: error"));
  }
}

}  // namespace
}  // namespace backplane::end_to_end
