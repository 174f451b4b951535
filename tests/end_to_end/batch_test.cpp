// Sweeps through the real program: every trial ends, whatever the others do.
#include "batch.hpp"

#include <gmock/gmock.h>
#include <signal.h>

#include <atomic>
#include <fstream>
#include <set>
#include <thread>

namespace backplane::end_to_end {
namespace {

using testing::HasSubstr;

class Batch : public BatchTest {};

TEST_F(Batch, EveryWayToFailHasItsClassAndTheNextTrialStarts) {
  const std::map<std::string, std::pair<const char*, const char*>> wanted = {
      {"not", {"COMPLETED", "ok"}},
      {"segv", {"FAILED", "signal"}},
      {"abort", {"FAILED", "signal"}},
      {"kill", {"FAILED", "signal"}},
      {"exit", {"FAILED", "plugin"}},
      {"exit_quietly", {"FAILED", "plugin"}},
      {"temp", {"FAILED", "temp"}},
      {"shell_signal", {"FAILED", "signal"}},
      {"hang", {"FAILED", "timeout"}},
      {"ignore_sigterm", {"FAILED", "timeout"}},
      {"nan", {"FAILED", "nan"}},
      {"leave_a_process", {"COMPLETED", "ok"}},
      {"bad_alloc", {"INFEASIBLE", "oom"}},
      {"device_oom", {"INFEASIBLE", "oom"}},
      {"fill_memory", {"INFEASIBLE", "oom"}},
  };
  std::string words;
  for (const auto& [how, end] : wanted) {
    if (kSanitized && how == "fill_memory") continue;  // a sanitizer reserves more memory than any limit allows
    words += (words.empty() ? "" : ", ") + ("'" + how + "'");
  }
  Write("all.yaml", std::string("experiment: all") + kMisbehaving +
                        "resources: " + (kSanitized ? "{hang_timeout: 10s}" : "{hang_timeout: 2s, memory: 200MiB}") + "\n" +
                        "on_failure: {signal: fail, temp: fail}\n"
                        "stop_sweep: {flapping: 0, initial_failures: 0}\n"
                        "sweep: {grid: {env.options.how: [" +
                        words + "]}}\n");
  const std::string run = "run all.yaml --set env.options.mark=left" + kWithFixtures;
  const Finished first = Run(run);
  EXPECT_EQ(first.exit, 3) << first.err;
  for (const auto& [how, trial] : States("all", "env.options.how")) {
    EXPECT_EQ(trial.state, wanted.at(how).first) << how << ": " << trial.why;
    EXPECT_EQ(trial.outcome, wanted.at(how).second) << how << ": " << trial.why;
    EXPECT_EQ(trial.attempts, 1) << how;
  }
  EXPECT_THAT(Processes({"BACKPLANE_TEST_MARK=left"}), testing::IsEmpty());

  EXPECT_EQ(Run(run).exit, 3) << "the same command starts no trial again";
  EXPECT_EQ(Attempts("all", "env.options.how"), static_cast<int>(States("all", "env.options.how").size()));
  EXPECT_EQ(Run(run + " --only-failed=nan").exit, 3);
  EXPECT_EQ(States("all", "env.options.how")["nan"].attempts, 2);
  EXPECT_EQ(States("all", "env.options.how")["exit"].attempts, 1);
}

TEST_F(Batch, AnImmediateRetryFindsItsFolderUnlocked) {
  Write("again.yaml", std::string("experiment: again") + kMisbehaving + "on_failure: {signal: {retry: 1}}\n");
  const Finished run = Run("run again.yaml --set env.options.how=kill" + kWithFixtures);
  EXPECT_EQ(run.exit, 1) << run.err;
  std::vector<std::string> outcomes;
  for (const nlohmann::json& event : Events("again"))
    if (event["kind"] == "attempt.end") outcomes.push_back(event["outcome"]);
  EXPECT_THAT(outcomes, testing::ElementsAre("signal", "signal"));
}

// A log with descriptor 1 or 2 would receive other output.
TEST_F(Batch, NoFileGetsAClosedStandardDescriptor) {
  Write("closed.yaml", std::string("experiment: closed") + kMisbehaving);
  ASSERT_EQ(Run("run closed.yaml" + kWithFixtures).exit, 0);
  const std::string values = Values("closed");
  ASSERT_NE(values, "");
  const std::filesystem::path calm = dir_ / "open" / std::filesystem::relative(Attempt("closed"), Out("closed"));
  std::filesystem::rename(Out("closed"), dir_ / "open");
  EXPECT_EQ(Run("run closed.yaml" + kWithFixtures + " 0<&- 1>&- 2>&-").exit, 0);
  EXPECT_EQ(Values("closed"), values);
  for (const nlohmann::json& event : Events("closed")) EXPECT_TRUE(event.contains("kind")) << event;
  for (const auto& file : std::filesystem::directory_iterator(Attempt("closed")))
    if (file.path().extension() == ".log") {
      EXPECT_EQ(ReadFile(file.path()), ReadFile(calm / file.path().filename())) << file.path();
    }
  EXPECT_EQ(Run("status " + Out("closed").string() + " 1>&- 2>&-").exit, 0);
  std::filesystem::remove_all(Out("closed"));
  const pid_t pid = Start("run closed.yaml --set budget.iterations=100000 --set env.options.sleep_us=1000" + kWithFixtures +
                          " 0<&- 1>&- 2>&-");
  ASSERT_TRUE(Begins("closed"));
  for (const int fd : {0, 1, 2}) {
    EXPECT_EQ(std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/fd/" + std::to_string(fd)), "/dev/null") << fd;
  }
  kill(pid, SIGINT);
  EXPECT_EQ(Wait(pid).exit, 130);
}

TEST_F(Batch, WallTimeStopsTrialsGentlyAndKeepsTheirMetrics) {
  Write("late.yaml", std::string("experiment: late") + kMisbehaving + "resources: {wall_time: 2s}\n");
  const Finished run = Run("run late.yaml --set budget.iterations=100000 --set env.options.sleep_us=100" + kWithFixtures);
  EXPECT_EQ(run.exit, 1) << run.err;
  EXPECT_EQ(Result("late")["outcome"], "timeout");
  EXPECT_GT(Result("late")["iterations"], 0);
  EXPECT_TRUE(std::filesystem::exists(Attempt("late").parent_path() / "checkpoint/checkpoint.bin"));
}

// The disk is too small for the first trial's checkpoint, but not for the second one's.
TEST_F(Batch, AFullDiskCostsTheTrialThatFillsIt) {
  if (!HasPlugin("learner_ars.so")) GTEST_SKIP() << "built without this learner";
  Write("full.yaml", R"(experiment: full
env: {plugin: cartpole}
learner: {plugin: ars, options: {num_dirs: 1, top_dirs: 1, episode_length: 10}}
budget: {iterations: 2}
evaluation: {episodes: 0}
monitors: []
on_failure: {temp: fail}
output: {dir: disk/full}
sweep: {grid: {learner.options.hidden: [[512, 512], [8, 8]]}}
)");
  const auto run = RunWithSmallDisk("1m", R"(
$backplane run full.yaml; code=$?
cp disk/full/events.jsonl .
exit $code
)");
  if (!run) GTEST_SKIP() << "cannot mount a small file system here";
  EXPECT_EQ(run->exit, 3) << run->err;
  std::vector<std::string> ends;
  for (const nlohmann::json& event : Lines(dir_ / "events.jsonl"))
    if (event["kind"] == "attempt.end")
      ends.push_back(event["state"].get<std::string>() + " " + event["outcome"].get<std::string>());
  EXPECT_THAT(ends, testing::ElementsAre("FAILED temp", "COMPLETED ok"));
}

TEST_F(Batch, OutOfMemoryIsAFrontierNotAFailure) {
  Write("memory.yaml", std::string("experiment: memory") + kMisbehaving + R"(
sweep:
  grid: {env.options.size: [64, 32, 16, 8, 4, 2, 1]}
  memory_axes: [env.options.size]
)");
  const std::string run = "run memory.yaml --set env.options.device_size=16" + kWithFixtures;
  const Finished first = Run(run);
  EXPECT_EQ(first.exit, 0) << first.err;
  auto states = States("memory", "env.options.size");
  EXPECT_EQ(states["16"].state, "COMPLETED");
  EXPECT_EQ(states["32"].state, "INFEASIBLE");
  EXPECT_EQ(states["32"].attempts, 1);
  EXPECT_EQ(states["64"].state, "INFEASIBLE");
  EXPECT_EQ(states["64"].attempts, 0) << "inferred";
  EXPECT_EQ(Run(run).exit, 0);
  EXPECT_EQ(Attempts("memory", "env.options.size"), 6);
}

TEST_F(Batch, TheFrontierHoldsForPointsThatAreAddedLater) {
  Write("grow.yaml", std::string("experiment: grow") + kMisbehaving +
                         "sweep: {grid: {env.options.size: [16, 32]}, memory_axes: [env.options.size]}\n");
  const std::string run = "run grow.yaml --set env.options.device_size=16" + kWithFixtures;
  ASSERT_EQ(Run(run).exit, 0);
  ASSERT_EQ(Run(run + " --sweep env.options.size=16,32,64").exit, 0);
  EXPECT_EQ(States("grow", "env.options.size")["64"].state, "INFEASIBLE");
  EXPECT_EQ(States("grow", "env.options.size")["64"].attempts, 0);
}

TEST_F(Batch, AdoptsAResultWithoutItsEventIntoEveryTable) {
  Write("adopt.yaml", std::string("experiment: adopt") + kMisbehaving + "sweep: {seeds: {n: 2}}\n");
  const std::string run = "run adopt.yaml" + kWithFixtures;
  ASSERT_EQ(Run(run).exit, 0);
  // Simulates a kill of the supervisor right after the last trial's end.
  std::string kept;
  for (const nlohmann::json& event : Events("adopt")) {
    if (event["kind"] == "session.end" || (event["kind"] == "attempt.end" && event["seq"] > 3)) continue;
    kept += event.dump() + "\n";
  }
  std::ofstream(Out("adopt") / "events.jsonl") << kept;
  std::filesystem::remove(Out("adopt") / "progress.json");
  const Finished again = Run(run);
  EXPECT_EQ(again.exit, 0) << again.err;
  int adopted = 0;
  for (const nlohmann::json& event : Events("adopt")) {
    adopted += event.value("adopted", false) ? 1 : 0;
    EXPECT_FALSE(event["kind"] == "attempt.start" && event["attempt"] != 1) << "no trial runs twice";
  }
  EXPECT_EQ(adopted, 1);
  const nlohmann::json progress = nlohmann::json::parse(ReadFile(Out("adopt") / "progress.json"));
  EXPECT_EQ(progress["state"], "done");
  EXPECT_EQ(progress["counts"]["COMPLETED"], 2);
}

TEST_F(Batch, TheWrittenConfigGivesTheSameTrialsOfSweptPlugins) {
  Write("all.yaml", R"(experiment: all
env: {plugin: cartpole, options: {}}
learner: {plugin: random, options: {horizon: 8}}
budget: {iterations: 2}
monitors: []
sweep:
  grid:
    env.plugin: [cartpole, pendulum]
    rollout.num_envs_per_env_runner: [1, 3]
  seeds: {n: 2}
)");
  ASSERT_EQ(Run("run all.yaml").exit, 0);
  const auto ids = [](const Finished& run) {
    std::set<std::string> found;
    const nlohmann::json said = nlohmann::json::parse(run.out);
    for (const nlohmann::json& trial : said["trials"]) found.insert(trial["trial_id"].get<std::string>());
    return found;
  };
  const Finished again = Run("run outputs/all/config.yaml --dry-run --json --out elsewhere");
  ASSERT_EQ(again.exit, 0) << again.err;
  EXPECT_EQ(ids(again), ids(Run("run all.yaml --dry-run --json")));
  EXPECT_EQ(ids(again).size(), 8u);
}

TEST_F(Batch, AFailedReplayReportsItsFailure) {
  Write("nan.yaml", std::string("experiment: nan") + kMisbehaving);
  ASSERT_EQ(Run("run nan.yaml --set env.options.how=nan" + kWithFixtures).exit, 1);
  const std::string id = Attempt("nan").parent_path().filename();
  const Finished replay = Run("replay outputs/nan " + id.substr(0, 6));
  EXPECT_EQ(replay.exit, 1);
  EXPECT_THAT(replay.out, HasSubstr("the replay failed like the recorded trial (nan)"));
  ASSERT_EQ(Run("run nan.yaml" + kWithFixtures).exit, 0);
  const std::string good = nlohmann::json::parse(Run("run nan.yaml --json" + kWithFixtures).out)["trials"][0]["trial_id"];
  const Finished equal = Run("replay outputs/nan " + good);
  EXPECT_EQ(equal.exit, 0) << equal.out;
  EXPECT_THAT(equal.out, HasSubstr("equal bit for bit"));
}

TEST_F(Batch, ProgressIsValidJsonAtEveryInstant) {
  Write("seen.yaml", std::string("experiment: seen") + kMisbehaving + R"(
output: {progress_file: seen.json}
sweep: {grid: {env.options.sleep_us: [500, 501, 502, 503]}}
)");
  std::atomic<bool> done{false};
  int looks = 0, broken = 0;
  std::thread reader([&] {
    while (!done) {
      const std::string text = ReadFile(Out("seen") / "seen.json");
      if (text.empty()) continue;
      ++looks;
      broken += nlohmann::json::accept(text) ? 0 : 1;
    }
  });
  const Finished run = Run("run seen.yaml" + kWithFixtures);
  done = true;
  reader.join();
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_GT(looks, 0);
  EXPECT_EQ(broken, 0);
  EXPECT_EQ(nlohmann::json::parse(ReadFile(Out("seen") / "seen.json"))["state"], "done");
}

TEST_F(Batch, RejectsAChangedPluginUnderFinishedTrialsUntilAccepted) {
  std::filesystem::create_directories(dir_ / "plugins");
  std::filesystem::copy_file(BACKPLANE_BINARY_DIR "/tests/fixtures/plugins/env_misbehaves.so",
                             dir_ / "plugins/env_misbehaves.so");
  Write("kept.yaml", std::string("experiment: kept") + kMisbehaving + "plugin_path: [./plugins]\n" +
                         "sweep: {grid: {env.options.size: [1, 2]}}\n");
  ASSERT_EQ(Run("run kept.yaml").exit, 0);
  std::ofstream(dir_ / "plugins/env_misbehaves.so", std::ios::app) << "x";
  const Finished refused = Run("run kept.yaml");
  EXPECT_EQ(refused.exit, 1);
  EXPECT_THAT(refused.err,
              testing::AllOf(HasSubstr("env.plugin"), HasSubstr("2 finished trials"), HasSubstr("--accept-change")));
  EXPECT_EQ(Run("run kept.yaml --accept-change").exit, 0);
  std::set<std::string> completed;
  for (const nlohmann::json& event : Events("kept"))
    if (event.contains("state") && event["state"] == "COMPLETED") completed.insert(event["trial_id"]);
  EXPECT_EQ(completed.size(), 4u) << "the old rows are kept";
  EXPECT_EQ(Lines(Out("kept") / "plan.jsonl").size(), 2u);
}

TEST_F(Batch, RejectsAChangedFileThatAModelIncludes) {
  Write("ant.xml", R"(<mujoco model="small">
  <option timestep="0.01"/>
  <worldbody>
    <geom type="plane" size="40 40 1"/>
    <body name="torso" pos="0 0 0.75">
      <freejoint name="root"/>
      <geom type="sphere" size="0.25"/>
      <body pos="0.2 0.2 0"><joint name="hip" type="hinge" axis="0 0 1" range="-0.5 0.5" limited="true"/>
        <geom type="capsule" fromto="0 0 0 0.2 0.2 -0.4" size="0.08"/></body>
    </body>
  </worldbody>
  <include file="actuators.xml"/>
</mujoco>)");
  const auto actuators = [](const char* gear) {
    return std::string(R"(<mujoco><actuator><motor joint="hip" ctrlrange="-1 1" gear=")") + gear + "\"/></actuator></mujoco>";
  };
  Write("actuators.xml", actuators("150"));
  Write("model.yaml", R"(
env: {plugin: ant, options: {xml_path: ant.xml}}
learner: {plugin: random, options: {horizon: 8}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 2}
budget: {iterations: 2}
)");
  ASSERT_EQ(Run("run model.yaml").exit, 0);
  const std::string before = Lines(Out("model") / "plan.jsonl").at(0)["trial_id"];
  Write("actuators.xml", actuators("15"));
  const Finished rejected = Run("run model.yaml");
  EXPECT_EQ(rejected.exit, 1);
  EXPECT_THAT(rejected.err, testing::AllOf(HasSubstr("files changed since these results were made"),
                                           HasSubstr("env.options.xml_path/references"), HasSubstr("1 finished trial")));
  EXPECT_EQ(Run("run model.yaml --accept-change").exit, 0);
  EXPECT_NE(Lines(Out("model") / "plan.jsonl").at(0)["trial_id"], before);
}

TEST_F(Batch, RestartsATrialOfAChangedPluginAndResumesWithTheOldFile) {
  std::filesystem::create_directories(dir_ / "plugins");
  const std::filesystem::path plugin = dir_ / "plugins/env_misbehaves.so";
  std::filesystem::copy_file(BACKPLANE_BINARY_DIR "/tests/fixtures/plugins/env_misbehaves.so", plugin);
  Write("stopped.yaml", std::string("experiment: stopped") + kMisbehaving + "plugin_path: [./plugins]\n");
  const std::string run = "run stopped.yaml budget.iterations=60 env.options.sleep_us=500";
  const pid_t pid = Start(run);
  ASSERT_TRUE(Begins("stopped")) << ErrorsOf(pid);
  kill(pid, SIGINT);
  ASSERT_EQ(Wait(pid).exit, 130);
  const std::string old = Lines(Out("stopped") / "plan.jsonl").at(0)["trial_id"];
  const std::string before = ReadFile(plugin);
  std::ofstream(plugin, std::ios::app) << "x";
  const std::string said = "env.plugin (" + plugin.string() + ") changed since a trial was stopped";
  EXPECT_THAT(Run(run + " --dry-run").out, HasSubstr(said));
  const Finished anew = Run(run);
  EXPECT_EQ(anew.exit, 0) << anew.err;
  EXPECT_THAT(anew.err, testing::AllOf(HasSubstr(said), HasSubstr("trials/" + old + "; to resume it")));
  std::ofstream(plugin, std::ios::trunc) << before;
  const Finished back = Run(run + " --accept-change");
  EXPECT_EQ(back.exit, 0) << back.err;
  EXPECT_THAT(back.err, testing::Not(HasSubstr("changed since")));
  EXPECT_EQ(nlohmann::json::parse(ReadFile(Out("stopped") / "trials" / old / "attempt-2/result.json"))["state"], "COMPLETED");
}

TEST_F(Batch, RunsOnlyTheNewPointOfAnExtendedSweep) {
  Write("grow.yaml", std::string("experiment: grow") + kMisbehaving + "sweep: {grid: {env.options.size: [1, 2]}}\n");
  ASSERT_EQ(Run("run grow.yaml" + kWithFixtures).exit, 0);
  ASSERT_EQ(Run("run grow.yaml --sweep env.options.size=1,2,3" + kWithFixtures).exit, 0);
  for (const auto& [size, trial] : States("grow", "env.options.size")) EXPECT_EQ(trial.attempts, 1) << size;
  EXPECT_EQ(States("grow", "env.options.size").size(), 3u);
}

}  // namespace
}  // namespace backplane::end_to_end
