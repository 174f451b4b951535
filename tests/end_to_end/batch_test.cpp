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

TEST_F(Batch, WhatIsTriedAgainAtOnceFindsItsFolderFree) {
  Write("again.yaml", std::string("experiment: again") + kMisbehaving + "on_failure: {signal: {retry: 1}}\n");
  const Finished run =
      Run("run again.yaml --set env.options.how=kill --plugin-path " BACKPLANE_BINARY_DIR "/tests/fixtures/plugins");
  EXPECT_EQ(run.exit, 1) << run.err;
  std::vector<std::string> outcomes;
  for (const nlohmann::json& event : Lines(Out("again") / "events.jsonl"))
    if (event["kind"] == "attempt.end") outcomes.push_back(event["outcome"]);
  EXPECT_THAT(outcomes, testing::ElementsAre("signal", "signal"));
}

// The children of a process that run this command of the program.
std::vector<pid_t> Below(pid_t parent, const std::string& command) {
  std::vector<pid_t> found;
  const std::string name = std::to_string(parent);
  std::istringstream children(ReadFile("/proc/" + name + "/task/" + name + "/children"));
  for (pid_t child = 0; children >> child;) {
    if (ReadFile("/proc/" + std::to_string(child) + "/cmdline").find('\0' + command + '\0') != std::string::npos)
      found.push_back(child);
  }
  return found;
}

TEST_F(Batch, SupervisorAndKeeperKilledTogetherLeaveNothingInTheTrialsSessionAndTheNextRunEndsTheRest) {
  const std::string mark = "end-to-end-" + std::to_string(getpid());
  Write("both.yaml", std::string("experiment: both") + kMisbehaving + "sweep: {seeds: {n: 2}}\n");
  const std::string run = "run both.yaml --set env.options.how=leave_two --set env.options.mark=" + mark +
                          " --plugin-path " BACKPLANE_BINARY_DIR "/tests/fixtures/plugins";
  const pid_t supervisor = Start(run + " --set env.options.sleep_us=2000 --set budget.iterations=100000");
  std::vector<pid_t> keepers;
  for (int i = 0; i < 200 && (ProcessesWith("=" + mark + "-helper").empty() || keepers.empty()); ++i) {
    usleep(50'000);
    keepers = Below(supervisor, "keep");
  }
  ASSERT_FALSE(keepers.empty());
  std::vector<pid_t> trials;
  for (const pid_t keeper : keepers)
    for (const pid_t trial : Below(keeper, "run-trial")) trials.push_back(trial);
  ASSERT_FALSE(trials.empty());
  // The supervisor first and stopped keepers: none may tell its trial anything.
  for (const pid_t keeper : keepers) kill(keeper, SIGSTOP);
  kill(supervisor, SIGKILL);
  for (const pid_t keeper : keepers) kill(keeper, SIGKILL);
  Wait(supervisor);
  usleep(1'000'000);
  // One that has ended has no command line any more, also where nobody reaps it.
  for (const pid_t trial : trials)
    EXPECT_THAT(ReadFile("/proc/" + std::to_string(trial) + "/cmdline"), testing::Not(HasSubstr("run-trial"))) << trial;
  EXPECT_THAT(ProcessesWith("=" + mark + "-helper"), testing::IsEmpty());
  const std::vector<std::string> daemons = ProcessesWith("BACKPLANE_TEST_MARK=" + mark);
  EXPECT_THAT(daemons, testing::Not(testing::IsEmpty())) << "these had a session of their own";
  const Finished again = Run(run + " --set env.options.sleep_us=2000 --set budget.iterations=100000 --set budget.wall_time=1s");
  EXPECT_THAT(again.err, HasSubstr("ended what trials of an earlier run had left: ")) << again.out;
  for (const std::string& daemon : daemons) EXPECT_THAT(again.err, HasSubstr(daemon + " (sleep)"));
  EXPECT_THAT(ProcessesWith("BACKPLANE_TEST_MARK=" + mark), testing::IsEmpty());
}

// A log that became descriptor 1 or 2 would take what others print.
TEST_F(Batch, WhereStandardDescriptorsAreClosedNoFileTakesTheirPlace) {
  Write("closed.yaml", std::string("experiment: closed") + kMisbehaving);
  const std::string plugins = " --plugin-path " BACKPLANE_BINARY_DIR "/tests/fixtures/plugins";
  ASSERT_EQ(Run("run closed.yaml" + plugins).exit, 0);
  const std::string values = Values("closed");
  ASSERT_NE(values, "");
  const std::filesystem::path calm = dir_ / "open" / std::filesystem::relative(Attempt("closed"), Out("closed"));
  std::filesystem::rename(Out("closed"), dir_ / "open");
  EXPECT_EQ(Run("run closed.yaml" + plugins + " 0<&- 1>&- 2>&-").exit, 0);
  EXPECT_EQ(Values("closed"), values);
  for (const nlohmann::json& event : Lines(Out("closed") / "events.jsonl")) EXPECT_TRUE(event.contains("kind")) << event;
  for (const auto& file : std::filesystem::directory_iterator(Attempt("closed")))
    if (file.path().extension() == ".log") {
      EXPECT_EQ(ReadFile(file.path()), ReadFile(calm / file.path().filename())) << file.path();
    }
  EXPECT_EQ(Run("status " + Out("closed").string() + " 1>&- 2>&-").exit, 0);
  std::filesystem::remove_all(Out("closed"));
  const pid_t pid =
      Start("run closed.yaml --set budget.iterations=100000 --set env.options.sleep_us=1000" + plugins + " 0<&- 1>&- 2>&-");
  while (ReadFile(Attempt("closed") / "metrics.jsonl").empty()) usleep(10'000);
  for (const int fd : {0, 1, 2}) {
    EXPECT_EQ(std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/fd/" + std::to_string(fd)), "/dev/null") << fd;
  }
  kill(pid, SIGINT);
  EXPECT_EQ(Wait(pid).exit, 130);
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

constexpr char kFixtures[] = " --plugin-path " BACKPLANE_BINARY_DIR "/tests/fixtures/plugins";

// The process that checks for a batch of this folder; 0: there is none, or it is `other_than`.
pid_t CheckIn(const std::filesystem::path& dir, pid_t other_than = 0) {
  for (int i = 0; i < 200; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string name = entry.path().filename(), command = ReadFile(entry.path() / "cmdline");
      std::error_code error;
      const bool checks = command.find("--check") != std::string::npos && command.find("--report-fd") == std::string::npos &&
                          std::filesystem::read_symlink(entry.path() / "cwd", error) == dir;
      if (checks && std::stoi(name) != other_than) return std::stoi(name);
    }
    usleep(50'000);
  }
  return 0;
}

TEST_F(Batch, ACheckThatIsKilledFromOutsideIsTriedOnceMore) {
  Write("wait.yaml", std::string("experiment: wait") + kMisbehaving);
  const std::filesystem::path go = dir_ / "go";
  const pid_t pid =
      Start("run wait.yaml --set env.options.how=wait_in_create --set env.options.mark=" + go.string() + kFixtures);
  const pid_t first = CheckIn(dir_);
  ASSERT_GT(first, 0);
  kill(first, SIGKILL);
  ASSERT_GT(CheckIn(dir_, first), 0);
  std::ofstream(go) << "go";
  const Finished run = Wait(pid);
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_EQ(Result("wait")["state"], "COMPLETED");
}

TEST_F(Batch, ACheckThatIsKilledTwiceBlamesNoLineOfTheFile) {
  Write("wait.yaml", std::string("experiment: wait") + kMisbehaving);
  const std::string command =
      "run wait.yaml --set env.options.how=wait_in_create --set env.options.mark=" + (dir_ / "go").string() + kFixtures;
  const pid_t pid = Start(command);
  pid_t before = 0;
  for (int i = 0; i < 2; ++i) {
    const pid_t check = CheckIn(dir_, before);
    ASSERT_GT(check, 0);
    kill(check, SIGKILL);
    before = check;
  }
  const Finished run = Wait(pid);
  EXPECT_EQ(run.exit, 1);
  EXPECT_THAT(run.err, testing::AllOf(HasSubstr("tried twice: killed from outside by SIGKILL"),
                                      HasSubstr("the same command tries again"), testing::Not(HasSubstr("wait.yaml:")),
                                      testing::Not(HasSubstr("error in"))));
  std::ofstream(dir_ / "go") << "go";
  EXPECT_EQ(Run(command).exit, 0);
}

TEST_F(Batch, CtrlCWhileCheckingSaysThatNothingWasStarted) {
  Write("wait.yaml", std::string("experiment: wait") + kMisbehaving);
  const std::string command =
      "run wait.yaml --set env.options.how=wait_in_create --set env.options.mark=" + (dir_ / "go").string() + kFixtures;
  const pid_t pid = Start(command);
  ASSERT_GT(CheckIn(dir_), 0);
  kill(pid, SIGINT);
  const Finished run = Wait(pid);
  EXPECT_EQ(run.exit, 130);
  EXPECT_THAT(run.err, HasSubstr("stopped while checking; nothing was started; the same command goes on\n"));
  EXPECT_EQ(run.out, "");
  std::ofstream(dir_ / "go") << "go";
  const Finished again = Run(command);
  EXPECT_EQ(again.exit, 0) << again.err;
}

// Two points, three seeds and two learners; each crash has other last words.
TEST_F(Batch, APluginThatCrashesInTheCheckIsReportedOnce) {
  Write("crash.yaml", std::string("experiment: crash") + kMisbehaving +
                          "sweep: {grid: {env.options.size: [1, 2], learner.options.horizon: [16, 32]}, seeds: {n: 3}}\n");
  const Finished run = Run(std::string("run crash.yaml --set env.options.how=segv_with_words_in_create") + kFixtures);
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
