// Sweeps through the real program: every trial comes to its end, whatever the others do.
#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "places.hpp"
#include "program.hpp"

namespace backplane::end_to_end {
namespace {

using testing::HasSubstr;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;  // reserves more memory than any limit allows
#else
constexpr bool kSanitized = false;
#endif

struct State {
  std::string state, outcome, why;
  int attempts = 0;
};

class Batch : public ProgramTest {
 protected:
  std::vector<nlohmann::json> Lines(const std::filesystem::path& file) {
    std::vector<nlohmann::json> lines;
    std::istringstream text(ReadFile(file));
    for (std::string line; std::getline(text, line);) lines.push_back(nlohmann::json::parse(line));
    return lines;
  }
  std::filesystem::path Out(const std::string& experiment) { return dir_ / "outputs" / experiment; }

  // What the events say of each trial of the plan, by its value of `path`.
  std::map<std::string, State> States(const std::string& experiment, const std::string& path) {
    std::map<std::string, State> by_id;
    for (const nlohmann::json& event : Lines(Out(experiment) / "events.jsonl")) {
      if (!event.contains("trial_id") || event["trial_id"] == "") continue;
      State& trial = by_id[event["trial_id"]];
      if (event["kind"] == "attempt.start") ++trial.attempts;
      if (event.contains("state")) trial.state = event["state"];
      if (event.contains("outcome")) trial.outcome = event["outcome"];
      if (event.contains("why")) trial.why = event["why"];
    }
    std::map<std::string, State> by_value;
    for (const nlohmann::json& line : Lines(Out(experiment) / "plan.jsonl")) {
      if (line.contains("dropped")) continue;
      const nlohmann::json& value = line["values"][path];
      by_value[value.is_string() ? value.get<std::string>() : value.dump()] = by_id[line["trial_id"]];
    }
    return by_value;
  }
  int Attempts(const std::string& experiment, const std::string& path) {
    int sum = 0;
    for (const auto& [value, trial] : States(experiment, path)) sum += trial.attempts;
    return sum;
  }
};

// Ids of the processes whose environment holds the text.
std::vector<std::string> ProcessesWith(const std::string& mark) {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    if (ReadFile(entry.path() / "environ").find(mark) != std::string::npos) found.push_back(entry.path().filename());
  }
  return found;
}

constexpr char kMisbehaving[] = R"(
env: {plugin: misbehaves}
learner: {plugin: random, options: {horizon: 32}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 2}
budget: {iterations: 4}
monitors: []
)";

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
    if (kSanitized && how == "fill_memory") continue;
    words += (words.empty() ? "" : ", ") + ("'" + how + "'");
  }
  const std::string mark = "end-to-end-" + std::to_string(getpid());
  Write("all.yaml", std::string("experiment: all") + kMisbehaving + "resources: {hang_timeout: 2s" +
                        (kSanitized ? "" : ", memory: 200MiB") + "}\n" +
                        "on_failure: {signal: fail, temp: fail}\n"
                        "stop_sweep: {flapping: 0, initial_failures: 0}\n"
                        "sweep: {grid: {env.options.how: [" +
                        words + "]}}\n");
  const std::string run = "run all.yaml --plugin-path " BACKPLANE_BINARY_DIR
                          "/tests/fixtures/plugins"
                          " --set env.options.mark=" +
                          mark;
  const Finished first = Run(run);
  EXPECT_EQ(first.exit, 3) << first.err;
  for (const auto& [how, trial] : States("all", "env.options.how")) {
    EXPECT_EQ(trial.state, wanted.at(how).first) << how << ": " << trial.why;
    EXPECT_EQ(trial.outcome, wanted.at(how).second) << how << ": " << trial.why;
    EXPECT_EQ(trial.attempts, 1) << how;
  }
  EXPECT_THAT(ProcessesWith("BACKPLANE_TEST_MARK=" + mark), testing::IsEmpty());

  EXPECT_EQ(Run(run).exit, 3) << "the same command starts nothing again";
  EXPECT_EQ(Attempts("all", "env.options.how"), static_cast<int>(States("all", "env.options.how").size()));
  EXPECT_EQ(Run(run + " --only-failed=nan").exit, 3);
  EXPECT_EQ(States("all", "env.options.how")["nan"].attempts, 2);
  EXPECT_EQ(States("all", "env.options.how")["exit"].attempts, 1);
}

TEST_F(Batch, WallTimeAsksFirstAndKeepsWhatWasMeasured) {
  Write("late.yaml", std::string("experiment: late") + kMisbehaving + "resources: {wall_time: 2s}\n");
  const Finished run =
      Run("run late.yaml --set budget.iterations=100000 --set env.options.sleep_us=100 --plugin-path " BACKPLANE_BINARY_DIR
          "/tests/fixtures/plugins");
  EXPECT_EQ(run.exit, 1) << run.err;
  EXPECT_EQ(Result("late")["outcome"], "timeout");
  EXPECT_GT(Result("late")["iterations"], 0);
  EXPECT_TRUE(std::filesystem::exists(Attempt("late").parent_path() / "checkpoint/checkpoint.bin"));
}

TEST_F(Batch, ASecondCtrlCEndsATrialThatDoesNotListen) {
  Write("deaf.yaml", std::string("experiment: deaf") + kMisbehaving);
  const std::string run =
      "run deaf.yaml --set env.options.how=ignore_sigterm --plugin-path " BACKPLANE_BINARY_DIR "/tests/fixtures/plugins";
  const pid_t pid = Start(run);
  for (int i = 0; i < 600 && ReadFile(Attempt("deaf") / "metrics.jsonl").empty(); ++i) usleep(50'000);
  kill(pid, SIGINT);
  usleep(300'000);
  kill(pid, SIGINT);
  EXPECT_EQ(Wait(pid).exit, 130);
  EXPECT_EQ(Result("deaf")["outcome"], "killed");
}

// A disk so small that the first trial's checkpoint does not fit; the second one's does.
TEST_F(Batch, AFullDiskCostsTheTrialThatFillsIt) {
  if (!HasPlugin("learner_ppo.so")) GTEST_SKIP() << "built without LibTorch";
  const std::filesystem::path disk = dir_ / "disk";
  std::filesystem::create_directories(disk);
  if (std::system(("mount -t tmpfs -o size=1m tmpfs " + disk.string() + " 2>/dev/null").c_str()) != 0)
    GTEST_SKIP() << "may not mount a small file system here";
  Write("full.yaml", R"(experiment: full
env: {plugin: cartpole}
learner: {plugin: ppo, options: {train_batch_size: 64, minibatch_size: 32, num_epochs: 1}}
budget: {iterations: 2}
monitors: []
on_failure: {temp: fail}
output: {dir: disk/full}
sweep: {grid: {learner.options.hidden: [[512, 512], [8, 8]]}}
)");
  const Finished run = Run("run full.yaml");
  const auto lines = Lines(disk / "full/events.jsonl");
  std::system(("umount " + disk.string()).c_str());
  EXPECT_EQ(run.exit, 3) << run.err;
  std::vector<std::string> ends;
  for (const nlohmann::json& event : lines)
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
  const std::string run =
      "run memory.yaml --set env.options.device_size=16 --plugin-path " BACKPLANE_BINARY_DIR "/tests/fixtures/plugins";
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
  const std::string run =
      "run grow.yaml --set env.options.device_size=16 --plugin-path " BACKPLANE_BINARY_DIR "/tests/fixtures/plugins";
  ASSERT_EQ(Run(run).exit, 0);
  ASSERT_EQ(Run(run + " --sweep env.options.size=16,32,64").exit, 0);
  EXPECT_EQ(States("grow", "env.options.size")["64"].state, "INFEASIBLE");
  EXPECT_EQ(States("grow", "env.options.size")["64"].attempts, 0);
}

TEST_F(Batch, AResultWithoutItsEventIsTakenOverIntoEveryTable) {
  Write("adopt.yaml", std::string("experiment: adopt") + kMisbehaving + "sweep: {seeds: {n: 2}}\n");
  const std::string run = "run adopt.yaml --plugin-path " BACKPLANE_BINARY_DIR "/tests/fixtures/plugins";
  ASSERT_EQ(Run(run).exit, 0);
  // As if the supervisor had been killed right after the last trial's end.
  std::string kept;
  for (const nlohmann::json& event : Lines(Out("adopt") / "events.jsonl")) {
    if (event["kind"] == "session.end" || (event["kind"] == "attempt.end" && event["seq"] > 3)) continue;
    kept += event.dump() + "\n";
  }
  std::ofstream(Out("adopt") / "events.jsonl") << kept;
  std::filesystem::remove(Out("adopt") / "progress.json");
  const Finished again = Run(run);
  EXPECT_EQ(again.exit, 0) << again.err;
  int adopted = 0;
  for (const nlohmann::json& event : Lines(Out("adopt") / "events.jsonl")) {
    adopted += event.value("adopted", false) ? 1 : 0;
    EXPECT_FALSE(event["kind"] == "attempt.start" && event["attempt"] != 1) << "nothing runs twice";
  }
  EXPECT_EQ(adopted, 1);
  const nlohmann::json progress = nlohmann::json::parse(ReadFile(Out("adopt") / "progress.json"));
  EXPECT_EQ(progress["state"], "done");
  EXPECT_EQ(progress["counts"]["COMPLETED"], 2);
}

TEST_F(Batch, TheWrittenConfigGivesTheSameTrialsAlsoWherePluginsAreSwept) {
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

TEST_F(Batch, AFailedReplaySaysSo) {
  Write("nan.yaml", std::string("experiment: nan") + kMisbehaving);
  const std::string fixtures = " --plugin-path " BACKPLANE_BINARY_DIR "/tests/fixtures/plugins";
  ASSERT_EQ(Run("run nan.yaml --set env.options.how=nan" + fixtures).exit, 1);
  const std::string id = Attempt("nan").parent_path().filename();
  const Finished replay = Run("replay outputs/nan " + id.substr(0, 6));
  EXPECT_EQ(replay.exit, 1);
  EXPECT_THAT(replay.out, HasSubstr("failed as recorded (nan)"));
  ASSERT_EQ(Run("run nan.yaml" + fixtures).exit, 0);
  const std::string good = nlohmann::json::parse(Run("run nan.yaml --json" + fixtures).out)["trials"][0]["trial_id"];
  const Finished equal = Run("replay outputs/nan " + good);
  EXPECT_EQ(equal.exit, 0) << equal.out;
  EXPECT_THAT(equal.out, HasSubstr("equal bit for bit"));
}

TEST_F(Batch, ACtrlCKeepsWhatIsFinishedAndTheSameCommandGoesOn) {
  Write("slow.yaml", std::string("experiment: slow") + kMisbehaving + R"(
sweep: {grid: {env.options.sleep_us: [1000, 1001, 1002, 1003, 1004, 1005]}}
)");
  const std::string run = "run slow.yaml --plugin-path " BACKPLANE_BINARY_DIR "/tests/fixtures/plugins";
  const pid_t pid = Start(run);
  for (int i = 0; i < 600 && Attempts("slow", "env.options.sleep_us") < 3; ++i) usleep(50'000);
  kill(pid, SIGINT);
  const Finished stopped = Wait(pid);
  EXPECT_EQ(stopped.exit, 130) << stopped.err;
  const int before = Attempts("slow", "env.options.sleep_us");
  EXPECT_LT(before, 6);
  EXPECT_EQ(Run(run).exit, 0);
  for (const auto& [value, trial] : States("slow", "env.options.sleep_us")) EXPECT_EQ(trial.state, "COMPLETED") << value;
  EXPECT_LE(Attempts("slow", "env.options.sleep_us"), 7) << "only the one that was stopped ran twice";
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
  const Finished run = Run("run seen.yaml --plugin-path " BACKPLANE_BINARY_DIR "/tests/fixtures/plugins");
  done = true;
  reader.join();
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_GT(looks, 0);
  EXPECT_EQ(broken, 0);
  EXPECT_EQ(nlohmann::json::parse(ReadFile(Out("seen") / "seen.json"))["state"], "done");
}

TEST_F(Batch, APairThatDoesNotFitIsReportedBeforeAnythingStarts) {
  if (!HasPlugin("learner_ppo.so")) GTEST_SKIP() << "built without LibTorch";
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
  EXPECT_EQ(refused.exit, 1);
  EXPECT_THAT(refused.err, testing::AllOf(HasSubstr("learner.ppo"), HasSubstr("env=cartpole"), HasSubstr("--skip-invalid")));
  for (const nlohmann::json& event : Lines(Out("pairs") / "events.jsonl")) EXPECT_NE(event["kind"], "attempt.start");
  const Finished skipped = Run("run pairs.yaml --skip-invalid");
  EXPECT_EQ(skipped.exit, 0) << skipped.err;
  std::map<std::string, int> states;
  for (const nlohmann::json& event : Lines(Out("pairs") / "events.jsonl"))
    if (event.contains("state")) ++states[event["state"]];
  EXPECT_EQ(states["COMPLETED"], 3);
  EXPECT_EQ(states["SKIPPED"], 1);
}

TEST_F(Batch, AChangedPluginUnderFinishedTrialsIsRefusedUntilAccepted) {
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
  for (const nlohmann::json& event : Lines(Out("kept") / "events.jsonl"))
    if (event.contains("state") && event["state"] == "COMPLETED") completed.insert(event["trial_id"]);
  EXPECT_EQ(completed.size(), 4u) << "the old rows stay";
  EXPECT_EQ(Lines(Out("kept") / "plan.jsonl").size(), 2u);
}

TEST_F(Batch, ANewPointRunsAloneBesideTheFinishedOnes) {
  Write("grow.yaml", std::string("experiment: grow") + kMisbehaving + "sweep: {grid: {env.options.size: [1, 2]}}\n");
  ASSERT_EQ(Run("run grow.yaml --plugin-path " BACKPLANE_BINARY_DIR "/tests/fixtures/plugins").exit, 0);
  ASSERT_EQ(
      Run("run grow.yaml --sweep env.options.size=1,2,3 --plugin-path " BACKPLANE_BINARY_DIR "/tests/fixtures/plugins").exit,
      0);
  for (const auto& [size, trial] : States("grow", "env.options.size")) EXPECT_EQ(trial.attempts, 1) << size;
  EXPECT_EQ(States("grow", "env.options.size").size(), 3u);
}

}  // namespace
}  // namespace backplane::end_to_end
