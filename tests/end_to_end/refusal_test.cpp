// Bad files and bad plugins leave a clear record and harm nothing else.
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>

#include "places.hpp"
#include "program.hpp"

namespace backplane::end_to_end {
namespace {

using testing::HasSubstr;

class Refusal : public ProgramTest {
 protected:
  static constexpr char kFixtures[] = BACKPLANE_BINARY_DIR "/tests/fixtures/plugins";

  // Runs this fixture env with the random learner.
  Finished RunFixture(const std::string& env, const std::string& more = "") {
    Write("bad.yaml", "experiment: bad\nenv: {plugin: " + env + R"(}
learner: {plugin: random, options: {horizon: 20}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 2}
budget: {iterations: 3}
)" + more);
    return Run("run bad.yaml --plugin-path " + std::string(kFixtures));
  }
};

TEST_F(Refusal, SixErrorsGiveSixMessagesAndStartNothing) {
  const Finished run = Run("run " BACKPLANE_SOURCE_DIR "/tests/fixtures/config/six_errors.yaml");
  EXPECT_EQ(run.exit, 2);
  size_t count = 0;
  for (size_t at = 0; (at = run.err.find(": error: ", at)) != std::string::npos; ++at) ++count;
  EXPECT_EQ(count, 6u) << run.err;
  EXPECT_FALSE(std::filesystem::exists(dir_ / "outputs"));
}

TEST_F(Refusal, AWrongCommandLineIsExitTwo) {
  const Finished typo = Run("runn x.yaml");
  EXPECT_EQ(typo.exit, 2);
  EXPECT_THAT(typo.err, HasSubstr("did you mean 'run'"));
  EXPECT_THAT(Run("run x.yaml --frehs").err, HasSubstr("did you mean '--fresh'"));
  EXPECT_EQ(Run("run no-such-file.yaml").exit, 2);
  EXPECT_EQ(Run("run-trial no-such-file.json").exit, 64);
}

TEST_F(Refusal, AnOptionThatBreaksItsOwnRuleIsNotSealed) {
  const auto seal = [&](const std::string& name, const std::string& kind = "env") {
    const std::filesystem::path file = dir_ / (name + ".so");
    std::filesystem::copy_file(std::string(kFixtures) + "/" + kind + "_" + name + ".so", file);
    const Finished run = Run("plugin seal " + file.string());
    EXPECT_NE(run.exit, 0);
    return run.err;
  };
  EXPECT_THAT(seal("helps_nothing"),
              HasSubstr("env.helps_nothing: option 'gain' names the unknown finding 'update_bond' in `helps`; "
                        "did you mean 'update_bound'?"));
  EXPECT_THAT(seal("bad_default"), testing::AllOf(HasSubstr("env.bad_default: option 'gain'"), HasSubstr("'five'")));
  EXPECT_THAT(seal("default_out_of_range"),
              testing::AllOf(HasSubstr("env.default_out_of_range: option 'gain'"), HasSubstr("(0,10]"), HasSubstr("0")));
  EXPECT_THAT(
      seal("range_malformed", "monitor"),
      HasSubstr("monitor.range_malformed: option 'first', its range: expected a range such as (0,1], [1,) or auto|[1,), got "
                "'0..9'"));
  EXPECT_THAT(seal("no_kind", "monitor"),
              HasSubstr("no_kind: the id: expected 'monitor.NAME', got 'no_kind'. Call it 'monitor.no_kind'."));
  EXPECT_THAT(seal("exports_more", "monitor"), HasSubstr("expected bp_module_v1 as the only exported symbol, got 1 more"));
}

TEST_F(Refusal, ARejectedStartLeavesNothingForFreshToMove) {
  Write("again.yaml",
        "experiment: again\nenv: cartpole\nlearner: {plugin: ars, options: {num_dirs: 2}}\n"
        "budget: {iterations: 1}\nmonitors: []\n");
  const std::string refused = "run again.yaml learner.options.top_dirs=4";
  ASSERT_EQ(Run(refused).exit, 2);
  ASSERT_EQ(Run("run again.yaml --fresh learner.options.top_dirs=1").exit, 0);
  EXPECT_FALSE(std::filesystem::exists(dir_ / "outputs/again.1"));
  ASSERT_EQ(Run("run again.yaml --fresh learner.options.top_dirs=1").exit, 0);
  EXPECT_TRUE(std::filesystem::exists(dir_ / "outputs/again.1"));
}

TEST_F(Refusal, AnIdOfTwoFilesIsAmbiguousAndRejectedByName) {
  std::filesystem::create_directory(dir_ / "more");
  std::filesystem::copy_file(std::string(kFixtures) + "/env_good.so", dir_ / "more/env_good.so");
  const std::string path = " --plugin-path " + std::string(kFixtures) + " --plugin-path " + (dir_ / "more").string();
  EXPECT_THAT(Run("plugin list" + path).out, HasSubstr("ambiguous: " + (dir_ / "more/env_good.so").string()));
  EXPECT_THAT(Run("plugin describe good" + path).err, HasSubstr("more than one env 'good'"));
  EXPECT_EQ(Run("plugin describe " + (dir_ / "more/env_good.so").string() + path).exit, 0);
}

TEST_F(Refusal, ACrashIsRecordedWithSignalAndPlugin) {
  const Finished run = RunFixture("crashes_in_step");
  EXPECT_EQ(run.exit, 1) << run.err;
  const nlohmann::json result = Result("bad");
  EXPECT_EQ(result["state"], "FAILED");
  EXPECT_EQ(result["outcome"], "signal");
  EXPECT_THAT(result.dump(), testing::AllOf(HasSubstr("SIGSEGV"), HasSubstr("env.crashes_in_step"), HasSubstr("rollout")));
  // Frames of the crashed thread, innermost first, by function: the plugin exports only its module.
  const std::vector<std::string> stacks = result["stacks"];
  ASSERT_GE(stacks.size(), 3u) << run.err;
  EXPECT_THAT(stacks[0], testing::MatchesRegex("thread [0-9]+ \\(.*\\) in env.crashes_in_step"));
  if (!kSanitized) {
    EXPECT_THAT(stacks[1], testing::AllOf(HasSubstr("Step"), HasSubstr("env_crashes_in_step.so")));
  }
  if (!kSanitized) {
    EXPECT_THAT(run.err, HasSubstr("was in       " + stacks[1].substr(2)));
  }
  EXPECT_FALSE(std::filesystem::exists(Attempt("bad") / "stacks")) << "it is in the record";
}

TEST_F(Refusal, AHangIsEndedAndRecorded) {
  // Longer than it takes to load the plugins.
  const Finished run =
      RunFixture("hangs_in_step", std::string("resources: {hang_timeout: ") + (kSanitized ? "15s" : "2s") + "}\n");
  EXPECT_EQ(run.exit, 1) << run.err;
  EXPECT_EQ(Result("bad")["outcome"], "timeout");
  EXPECT_EQ(Result("bad")["plugin"], "env.hangs_in_step");
  EXPECT_EQ(Result("bad")["phase"], "rollout");
  EXPECT_THAT(run.err, HasSubstr(std::string("gave no sign of life for ") + (kSanitized ? "15s" : "2s") +
                                 " (resources.hang_timeout) and was killed"));
  // The record has the stacks of all threads; the terminal shows only the hung one, without the idle monitor's.
  const std::string shown = run.err.substr(run.err.find("was in "));
  EXPECT_THAT(shown.substr(0, shown.find("results ")), HasSubstr("env_hangs_in_step.so"));
  const std::vector<std::string> stacks = Result("bad")["stacks"];
  const auto threads =
      std::count_if(stacks.begin(), stacks.end(), [](const auto& line) { return line.starts_with("thread "); });
  EXPECT_GT(threads, 1);
  if (!kSanitized) {
    EXPECT_THAT(nlohmann::json(stacks).dump(), HasSubstr("Step"));
  }
}

TEST_F(Refusal, ADivergingTrialKeepsTheStateBeforeIt) {
  // Two rows of 20 steps per iteration: the reward turns NaN in the third.
  const Finished run = RunFixture("reward_turns_nan");
  EXPECT_EQ(run.exit, 1) << run.err;
  const nlohmann::json result = Result("bad");
  EXPECT_EQ(result["outcome"], "nan");
  EXPECT_EQ(result["iterations"], 2);
  EXPECT_EQ(result["error"], "env.reward_turns_nan: the reward of row 0 is not a finite number at step 11 of the rollout");
  EXPECT_EQ(result["phase"], "rollout") << "the place of the fault, not of the saved state";
  const std::string kept = ReadFile(Attempt("bad").parent_path() / "checkpoint/checkpoint.bin");
  EXPECT_THAT(kept, HasSubstr("\"iterations\":2"));
}

TEST_F(Refusal, ANaNObservationIsNamedAsTheSource) {
  RunFixture("obs_turns_nan");  // 5 steps before its reward
  const nlohmann::json result = Result("bad");
  EXPECT_EQ(result["outcome"], "nan");
  EXPECT_EQ(result["error"],
            "env.obs_turns_nan: observation obs[0] of row 0 is not finite at step 6 of the rollout; "
            "then: the reward of row 0 is not a finite number at step 11 of the rollout");
}

TEST_F(Refusal, ANaNObservationIsNamedBeforeItsEffectOnTheLearner) {
  // 46 steps of 2 rows: the last observations are NaN. No action uses them, but the update bootstraps from them.
  Write("bad.yaml", R"(experiment: bad
env: {plugin: obs_turns_nan}
learner: {plugin: ppo, options: {train_batch_size: 92, minibatch_size: 92}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 2}
budget: {iterations: 3}
)");
  Run("run bad.yaml --plugin-path " + std::string(kFixtures));
  EXPECT_EQ(Result("bad")["plugin"], "env.obs_turns_nan");
  EXPECT_THAT(Result("bad")["error"].get<std::string>(),
              testing::StartsWith("env.obs_turns_nan: observation obs[0] of row 0 is not finite at step 46 of the rollout; "
                                  "then: learner.ppo: "));
}

TEST_F(Refusal, FindsNaNObservationsThatTheLearnerDoesNotUse) {
  Write("bad.yaml", R"(experiment: bad
env: {plugin: obs_turns_nan}
learner: {plugin: random, options: {horizon: 46}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 2}
budget: {iterations: 3}
)");
  Run("run bad.yaml --plugin-path " + std::string(kFixtures));
  EXPECT_EQ(Result("bad")["outcome"], "nan");
  EXPECT_EQ(Result("bad")["plugin"], "env.obs_turns_nan");
  EXPECT_EQ(Result("bad")["error"],
            "env.obs_turns_nan: observation obs[0] of row 0 is not finite at step 46 of the rollout; then: "
            "learner.random: consume: a number of 'obs' is not finite");
}

TEST_F(Refusal, ADivergingTrialIsRecordedEvenIfItsStateCannotBeKept) {
  RunFixture("reward_turns_nan");
  const std::filesystem::path checkpoint = Attempt("bad").parent_path() / "checkpoint";
  std::filesystem::remove_all(checkpoint);
  std::ofstream(checkpoint) << "a file in the folder's place";
  const Finished run = Run("run bad.yaml --only-failed --plugin-path " + std::string(kFixtures));
  EXPECT_EQ(run.exit, 1) << run.err;
  EXPECT_EQ(nlohmann::json::parse(ReadFile(Attempt("bad", 2) / "result.json"))["outcome"], "nan");
}

TEST_F(Refusal, APluginThatExitsIsRecordedByName) {
  const Finished run = RunFixture("exits_in_step");
  EXPECT_EQ(run.exit, 1) << run.err;
  EXPECT_EQ(Result("bad")["outcome"], "plugin");
  EXPECT_THAT(Result("bad").dump(), HasSubstr("env.exits_in_step"));
}

TEST_F(Refusal, AnErrorThatIsNotUtf8IsRecorded) {
  const Finished run = RunFixture("fails_in_latin_1");
  EXPECT_EQ(run.exit, 1) << run.err;
  const nlohmann::json result = Result("bad");
  EXPECT_EQ(result["outcome"], "plugin");
  const std::string sentence = "env.fails_in_latin_1: step: the arm is at 90\uFFFD, m\uFFFDglich are 80";
  EXPECT_EQ(result["error"], sentence);
  EXPECT_EQ(result["log_tail"].back(), sentence) << "from stderr.log, read by the supervisor";
}

TEST_F(Refusal, AFailedCreateIsReportedBeforeTheTrial) {
  const Finished run = RunFixture("create_fails");
  EXPECT_NE(run.exit, 0);
  EXPECT_THAT(run.err, HasSubstr("env.create_fails"));
  EXPECT_THAT(run.err, Not(HasSubstr("does not fit"))) << "the learner is not to blame";
  EXPECT_THAT(run.err, HasSubstr("env.create_fails: create: this env never starts"));
  EXPECT_THAT(run.err, HasSubstr("bad.yaml:2:7: error: "));
  EXPECT_THAT(ReadFile(dir_ / "outputs/bad/check/1/stderr.log"), HasSubstr("this env never starts"));
  EXPECT_FALSE(std::filesystem::exists(Attempt("bad"))) << "no trial was started";
}

TEST_F(Refusal, APluginWithoutItsPartNamesTheMissingFile) {
  std::filesystem::copy_file(BACKPLANE_PLUGIN_DIR "/learner_ppo.so", dir_ / "learner_ppo.so");
  Write("half.yaml", R"(experiment: half
env: {plugin: cartpole}
learner: {plugin: ./learner_ppo.so, options: {update_path: torch}}
budget: {iterations: 1}
)");
  const Finished run = Run("run half.yaml");
  EXPECT_NE(run.exit, 0);
  // A build without LibTorch has a plugin without this part.
  EXPECT_THAT(run.err, testing::AnyOf(HasSubstr("learner_ppo_torch.so: is missing; expected the part 'torch' of 'learner.ppo'"),
                                      HasSubstr("'learner.ppo' was sealed without its part 'torch'")));
  EXPECT_THAT(run.err, Not(HasSubstr("does not fit"))) << "the env is not to blame";
  EXPECT_FALSE(std::filesystem::exists(Attempt("half"))) << "no trial was started";
}

TEST_F(Refusal, ACreateThatThrowsIsContained) {
  const Finished run = RunFixture("create_throws");
  EXPECT_NE(run.exit, 0);
  EXPECT_THAT(run.err, HasSubstr("env.create_throws"));
}

// An env's errors about its options, before the start: at the key's place, for all points together, each once.
class RefusedOptions : public Refusal {
 protected:
  RefusedOptions() {
    Write("crowd.yaml", R"(experiment: crowd
env: {plugin: uav_grid, options: {grid_size: 6, n_uavs: 2, n_obstacles: 2, sensor_radius: 2}}
learner: {plugin: uav_scripted}
budget: {iterations: 1}
monitors: []
sweep:
  list:
    - {name: crowded, env.options.n_obstacles: 34}
    - {name: fine, env.options.n_obstacles: 3}
    - {name: far, env.options.sensor_radius: 9}
)");
  }
  static constexpr char kCrowded[] =
      "crowd.yaml:8:23: error: env.uav_grid: create: expected 38 cells or more, for 34 obstacles and 2 starts and targets "
      "each, got 36";
  static constexpr char kFar[] = "crowd.yaml:10:19: error: env.uav_grid: create: sensor_radius: expected less than grid_size";

  static size_t Times(const std::string& text, const std::string& part) {
    size_t n = 0;
    for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++n;
    return n;
  }
};

TEST_F(RefusedOptions, AreErrorsOfTheFile) {
  for (const char* command : {"config check crowd.yaml", "run crowd.yaml --dry-run"}) {
    const Finished check = Run(command);
    EXPECT_EQ(check.exit, 2) << command;
    EXPECT_EQ(Times(check.err, kCrowded), 1u) << check.err;
    EXPECT_EQ(Times(check.err, kFar), 1u) << check.err;
    EXPECT_EQ(Times(check.err, "error: "), 2u) << check.err;
    EXPECT_THAT(check.err, testing::AllOf(HasSubstr("(point 'crowded')"), HasSubstr("2 errors in crowd.yaml")));
    EXPECT_FALSE(std::filesystem::exists(dir_ / "outputs"));
  }
  EXPECT_EQ(Run("config check crowd.yaml --file-only").exit, 0);
}

TEST_F(RefusedOptions, EndARunBeforeItStarts) {
  const Finished run = Run("run crowd.yaml");
  EXPECT_EQ(run.exit, 2);
  EXPECT_EQ(Times(run.err, "expected 38 cells"), 1u) << run.err;
  EXPECT_EQ(Times(run.err, kFar), 1u) << run.err;
  EXPECT_THAT(run.err, HasSubstr("2 errors in crowd.yaml; nothing was started; --skip-invalid runs the other trials"));
  EXPECT_EQ(run.out, "");
  const Finished rest = Run("run crowd.yaml --skip-invalid");
  EXPECT_EQ(rest.exit, 0) << rest.err;
  EXPECT_THAT(rest.out, HasSubstr("1 COMPLETED, 2 SKIPPED"));
}

TEST_F(RefusedOptions, APlanWithoutErrorsLeavesNoCheckFolder) {
  EXPECT_EQ(Run("run crowd.yaml --set \"sweep.list=[{env.options.n_obstacles: 3}]\"").exit, 0);
  EXPECT_FALSE(std::filesystem::exists(dir_ / "outputs/crowd/check"));
}

TEST_F(Refusal, APluginThatCrashesInCreateSpoilsNoOtherPoint) {
  Write("crash.yaml", std::string(R"(experiment: crash
env: {plugin: create_crashes}
learner: {plugin: random, options: {horizon: 20}}
budget: {iterations: 1}
monitors: []
sweep: {list: [{name: bad, learner.options.horizon: 10}, {name: good, env.plugin: good}, {name: worse, learner.options.horizon: 30}]}
)"));
  const Finished run = Run("config check crash.yaml --plugin-path " + std::string(kFixtures));
  EXPECT_EQ(run.exit, 1);
  EXPECT_THAT(run.err, testing::AllOf(HasSubstr("crash.yaml:2:7: error: env.create_crashes: died of SIGABRT"),
                                      HasSubstr("'bad'"), HasSubstr("'worse'"), testing::Not(HasSubstr("'good'"))));
}

TEST_F(Refusal, ACrashIsNotReportedAsAnotherPointsError) {
  Write("two.yaml", std::string(R"(experiment: two
env: {plugin: misbehaves}
learner: {plugin: random, options: {horizon: 20}}
budget: {iterations: 1}
monitors: []
sweep: {list: [{name: one, env.options.how: refuse}, {name: two, env.options.how: segv_in_create}, {name: three}]}
)"));
  const Finished check = Run("config check two.yaml --plugin-path " + std::string(kFixtures));
  EXPECT_EQ(check.exit, 1) << check.err;
  EXPECT_THAT(check.err, HasSubstr("how: this env refuses its options (point 'one')"));
  EXPECT_THAT(check.err, HasSubstr("env.misbehaves: died of SIGSEGV (point 'two')"));
  EXPECT_THAT(check.err, testing::Not(HasSubstr("'three'")));
}

TEST_F(Refusal, ARejectedOptionBlamesNoOtherPointAmongMany) {
  Write("many.yaml", R"(experiment: many
env: {plugin: uav_grid, options: {grid_size: 6, n_uavs: 2}}
learner: {plugin: uav_scripted}
budget: {iterations: 1}
monitors: []
sweep:
  grid:
    env.options.n_obstacles: [34, 0, 1, 2, 3, 4, 5, 6, 7]
    env.options.sensor_radius: [9, 1, 2, 3, 4, 5, 0, 10, 11]
)");
  const Finished check = Run("config check many.yaml");
  EXPECT_EQ(check.exit, 2) << check.err;
  EXPECT_THAT(check.err, HasSubstr("34 obstacles")) << "the first value of an axis is tried with every value of the other";
  EXPECT_THAT(check.err, HasSubstr("and 6 more)"));
  EXPECT_THAT(check.err, testing::Not(HasSubstr("and 78 more)")));
}

TEST_F(Refusal, AMistypedLiveMeasureIsNamedAtTheTerminal) {
  Write("live.yaml", R"(experiment: live
env: {plugin: cartpole}
learner: {plugin: random, options: {horizon: 20}}
budget: {iterations: 2}
output: {live: [ep/lenght]}
)");
  const Finished run = Run("run live.yaml");
  EXPECT_EQ(run.exit, 2) << run.err;
  EXPECT_THAT(run.err, HasSubstr("live.yaml:5:17: error: output.live: nothing records 'ep/lenght'; did you mean 'ep/length'?"));
  EXPECT_THAT(run.err, HasSubstr("nothing was started"));
}

}  // namespace
}  // namespace backplane::end_to_end
