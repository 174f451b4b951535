// Lost and damaged files and full disks: finished trials stay unchanged, or the program reports the damage.
#include <gmock/gmock.h>
#include <signal.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>

#include "places.hpp"
#include "program.hpp"

namespace backplane::end_to_end {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace fs = std::filesystem;

constexpr char kTwoSeeds[] = R"(experiment: two
env: {plugin: cartpole}
learner: {plugin: random, options: {horizon: 32}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 2}
budget: {iterations: 6}
monitors: []
sweep: {seeds: {n: 2}}
)";

class DamagedResults : public ProgramTest {
 protected:
  std::vector<nlohmann::json> Events(const std::string& experiment) const { return Lines(Out(experiment) / "events.jsonl"); }
  size_t Starts(const std::string& experiment) {
    size_t starts = 0;
    for (const nlohmann::json& event : Events(experiment)) starts += event["kind"] == "attempt.start" ? 1 : 0;
    return starts;
  }
  // Every command that reads results reports the damage with exit 1, and prints the undamaged rest.
  void ExpectTold(const std::string& out, const std::string& sentence) {
    for (const std::string& command : {"status " + out, "status " + out + " --json", "export csv " + out, "export tb " + out,
                                       "export sqlite " + out + " --to copy.sqlite", "report " + out, "store rebuild " + out}) {
      const Finished told = Run(command);
      EXPECT_EQ(told.exit, 1) << command;
      EXPECT_THAT(told.err, AllOf(HasSubstr("1 finished trial is damaged"), HasSubstr(sentence))) << command;
      EXPECT_THAT(told.out, Not(testing::IsEmpty())) << command;
    }
  }
};

// Empty, as after `: > FILE`.
TEST_F(DamagedResults, NameEmptyRecordsInEveryCommand) {
  Write("two.yaml", kTwoSeeds);
  ASSERT_EQ(Run("run two.yaml").exit, 0);
  for (const std::string name : {"plan.jsonl", "events.jsonl"}) {
    fs::resize_file(Out("two") / name, 0);
    for (const std::string& command : {std::string("export csv outputs/two"), std::string("export tb outputs/two"),
                                       std::string("status outputs/two"), std::string("status outputs/two --json"),
                                       std::string("report outputs/two"), std::string("store rebuild outputs/two")}) {
      const Finished told = Run(command);
      EXPECT_EQ(told.exit, 1) << command << " after " << name;
      EXPECT_THAT(told.err, Not(HasSubstr("json.exception"))) << command;
      EXPECT_THAT(told.err, Not(testing::IsEmpty())) << command;
      if (command.starts_with("report")) continue;
      EXPECT_THAT(told.err, HasSubstr(name + ": expected ")) << command;
    }
    const Finished again = Run("run two.yaml");
    EXPECT_EQ(again.exit, 0) << again.err;
    EXPECT_EQ(Run("status outputs/two").exit, 0) << name;
  }
}

TEST_F(DamagedResults, PrintNoNameOfJsonExceptions) {
  Write("two.yaml", kTwoSeeds);
  ASSERT_EQ(Run("run two.yaml").exit, 0);
  for (const std::string name : {"plan.jsonl", "events.jsonl", "run.json"}) {
    for (const std::string text : {"\n", "{\n", "[]\n", "null\n", "{\"kind\": 3}\n", "\xff\n"}) {
      const std::string before = ReadFile(Out("two") / name);
      Write("outputs/two/" + name, text + before);
      for (const std::string command : {"export csv outputs/two", "status outputs/two", "report outputs/two", "run outputs/two",
                                        "store rebuild outputs/two", "run two.yaml"}) {
        const Finished told = Run(command);
        EXPECT_THAT(told.err + told.out, Not(HasSubstr("json.exception"))) << command << " after " << name << ": " << text;
      }
      Write("outputs/two/" + name, before);
    }
  }
}

TEST_F(DamagedResults, AreReportedByEveryCommandAndRunAgainFromScratch) {
  Write("two.yaml", kTwoSeeds);
  ASSERT_EQ(Run("run two.yaml").exit, 0);
  EXPECT_EQ(Run("status outputs/two").exit, 0);
  const fs::path first = Attempt("two").parent_path();
  const std::string values = Values("two");
  const std::map<std::string, std::pair<std::string, std::function<void(const fs::path&)>>> ways = {
      {"metrics.jsonl: expected 6 lines, got no such file", {"metrics.jsonl", [](const fs::path& file) { fs::remove(file); }}},
      {"metrics.jsonl: expected 6 lines, got an empty file",
       {"metrics.jsonl", [](const fs::path& file) { fs::resize_file(file, 0); }}},
      {"metrics.jsonl: expected 6 lines, got 5",
       {"metrics.jsonl", [](const fs::path& file) { fs::resize_file(file, fs::file_size(file) - 1); }}},
      {"metrics.jsonl: expected 6 lines of checksum",
       {"metrics.jsonl", [](const fs::path& file) { std::fstream(file, std::ios::in | std::ios::out).seekp(20).put('#'); }}},
      {"got no such file", {"result.json", [](const fs::path& file) { fs::remove(file); }}},
      {"got an empty file", {"result.json", [](const fs::path& file) { fs::resize_file(file, 0); }}},
      {"result.json: expected SHA-256",
       {"result.json", [](const fs::path& file) { std::fstream(file, std::ios::in | std::ios::out).seekp(20).put('#'); }}},
  };
  int attempt = 1;
  for (const auto& [sentence, way] : ways) {
    way.second(first / ("attempt-" + std::to_string(attempt)) / way.first);
    if (attempt <= 2) ExpectTold("outputs/two", sentence);
    EXPECT_EQ(Run("status outputs/two").exit, 1) << sentence;
    EXPECT_THAT(Run("run two.yaml --dry-run").out, HasSubstr("would run")) << sentence;
    const size_t before = Starts("two");
    const Finished again = Run(attempt % 2 == 1 ? "run two.yaml --only-damaged" : "run two.yaml");
    ++attempt;
    EXPECT_EQ(again.exit, 0) << again.err;
    EXPECT_THAT(again.err, AllOf(HasSubstr("is damaged and will run again: "), HasSubstr(sentence)));
    EXPECT_EQ(Starts("two"), before + 1) << "the other trial is undamaged";
    EXPECT_EQ(Run("status outputs/two").exit, 0) << sentence;
    EXPECT_EQ(Values("two", attempt), values) << "all iterations, from the first";
  }
  size_t told = 0;
  for (const nlohmann::json& event : Events("two"))
    told += event["kind"] == "trial.state" && event["state"] == "PLANNED" &&
            event["why"].get<std::string>().starts_with("damaged: ");
  EXPECT_EQ(told, ways.size());
}

TEST_F(DamagedResults, OnlyDamagedRunsNothingElse) {
  Write("two.yaml", kTwoSeeds);
  ASSERT_EQ(Run("run two.yaml --set sweep.seeds.n=1").exit, 0);
  EXPECT_EQ(Run("run two.yaml --only-damaged").exit, 3) << "a trial has not run";
  EXPECT_EQ(Starts("two"), 1u) << "the second seed is not damaged, it has not run";
  EXPECT_EQ(Run("run two.yaml --only-damaged --only-failed").exit, 2);
  EXPECT_EQ(Run("run two.yaml").exit, 0);
  EXPECT_EQ(Starts("two"), 2u);
}

TEST_F(DamagedResults, AreSkippedByOnlyFailed) {
  Write("two.yaml", kTwoSeeds);
  ASSERT_EQ(Run("run two.yaml").exit, 0);
  fs::resize_file(Attempt("two") / "metrics.jsonl", 0);
  EXPECT_THAT(Run("run two.yaml --only-failed --dry-run").out, Not(HasSubstr("would run")));
  Run("run two.yaml --only-failed");
  EXPECT_EQ(Starts("two"), 2u) << "none of them failed";
}

// A folder of a version whose attempt.end events had no line counts.
TEST_F(DamagedResults, AreFoundInAnOlderFolderByTheirIterations) {
  Write("two.yaml", kTwoSeeds);
  ASSERT_EQ(Run("run two.yaml").exit, 0);
  const fs::path out = Out("two");
  std::string events;
  for (nlohmann::json event : Events("two")) {
    event.erase("files");
    events += event.dump() + "\n";
  }
  std::ofstream(out / "events.jsonl") << events;
  for (const auto& trial : fs::directory_iterator(out / "trials")) {
    const fs::path file = trial.path() / "attempt-1/result.json";
    nlohmann::json result = nlohmann::json::parse(ReadFile(file));
    result.erase("metrics_parts");
    std::ofstream(file) << result.dump();
  }
  EXPECT_EQ(Run("status outputs/two").exit, 0);
  fs::resize_file(Attempt("two") / "metrics.jsonl", 0);
  EXPECT_THAT(Run("status outputs/two").err, HasSubstr("metrics.jsonl: expected 6 iterations, got an empty file"));
  EXPECT_EQ(Run("run two.yaml").exit, 0);
  EXPECT_EQ(Run("status outputs/two").exit, 0);
}

TEST_F(DamagedResults, TrialsThatStartFromThemWait) {
  if (!HasPlugin("learner_ars.so")) GTEST_SKIP() << "built without this learner";
  Write("steps.yaml", R"(experiment: steps
env: {plugin: pendulum}
learner: {plugin: ars, options: {num_dirs: 2, top_dirs: 1, hidden: [4]}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 1}
monitors: []
stages:
  - {name: first, budget.iterations: 2}
  - {name: second, budget.iterations: 2}
)");
  ASSERT_EQ(Run("run steps.yaml").exit, 0);
  const fs::path out = Out("steps");
  // Simulates a kill of the supervisor at the end of the first stage.
  std::string events, id;
  for (const nlohmann::json& event : Events("steps")) {
    events += event.dump() + "\n";
    if (event["kind"] != "attempt.end") continue;
    id = event["trial_id"];
    break;
  }
  std::ofstream(out / "events.jsonl") << events;
  for (const auto& trial : fs::directory_iterator(out / "trials"))
    if (trial.path().filename() != id) fs::remove_all(trial.path());
  fs::remove(out / "trials" / id / "attempt-1/metrics.jsonl");
  EXPECT_EQ(Run("run steps.yaml").exit, 0);
  std::vector<std::string> order;
  for (const nlohmann::json& event : Events("steps"))
    if (event["kind"] == "attempt.start")
      order.push_back((event["trial_id"] == id ? "first " : "second ") + event["attempt"].dump());
  EXPECT_THAT(order, testing::ElementsAre("first 1", "first 2", "second 1"));
  EXPECT_EQ(Run("status outputs/steps").exit, 0);
}

// The lines of a stopped trial are in two attempts' folders, and both belong to it.
TEST_F(DamagedResults, AreFoundInEveryAttemptThatCounts) {
  // An iteration takes at least 5 ms, so the kill comes long before the end.
  Write("long.yaml", R"(experiment: long
env: {plugin: unsettles}
learner: {plugin: upsets, options: {ticks: 1, tick_ms: 5}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 1}
plugin_path: [)" BACKPLANE_BINARY_DIR R"(/tests/fixtures/plugins]
checkpoint: {every_iterations: 5}
monitors: []
budget: {iterations: 400}
)");
  const pid_t pid = Start("run long.yaml");
  ASSERT_TRUE(Until([&] { return Metrics("long").size() >= 10; })) << ErrorsOf(pid);
  kill(pid, SIGKILL);
  EXPECT_EQ(Wait(pid).exit, 128 + SIGKILL);
  ASSERT_EQ(Run("run long.yaml").exit, 0);
  const nlohmann::json parts = nlohmann::json::parse(ReadFile(Attempt("long", 2) / "result.json"))["metrics_parts"];
  ASSERT_EQ(parts.size(), 2u) << "it resumed from a checkpoint";
  EXPECT_EQ(parts[0]["lines"].get<int>() + parts[1]["lines"].get<int>(), 400);
  EXPECT_EQ(Run("status outputs/long").exit, 0);
  const fs::path first = Attempt("long") / "metrics.jsonl";
  std::fstream(first, std::ios::in | std::ios::out).seekp(30).put('#');
  EXPECT_THAT(Run("status outputs/long").err, HasSubstr("attempt-1/metrics.jsonl: expected "));
}

// Counts waits for the disk per process and checks their order, seen from outside.
TEST_F(DamagedResults, AreGuardedWithFewWaitsForTheDisk) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer must be loaded first";
#endif
  Write("two.yaml", kTwoSeeds);
  setenv("LD_PRELOAD", BACKPLANE_BINARY_DIR "/tests/tells_syncs.so", 1);
  setenv("TELLS_SYNCS", (dir_ / "syncs").c_str(), 1);
  if (kSanitized) setenv("ASAN_OPTIONS", "verify_asan_link_order=0", 1);  // also works if it is loaded second
  const Finished run = Run("run two.yaml --set checkpoint.every_iterations=2");
  for (const char* name : {"LD_PRELOAD", "TELLS_SYNCS", "ASAN_OPTIONS"}) unsetenv(name);
  ASSERT_EQ(run.exit, 0) << run.err;
  const std::string syncs = ReadFile(dir_ / "syncs");
  std::vector<std::string> of_trials, of_events;
  std::istringstream files(syncs);
  for (std::string file; std::getline(files, file);) {
    if (file.find("/trials/") != std::string::npos) of_trials.push_back(file);
    if (file.ends_with("/events.jsonl")) of_events.push_back(file);
  }
  constexpr size_t kTrials = 2, kCheckpoints = 3;  // after 2 and 4 iterations, and at the end
  EXPECT_LE(of_trials.size(), kTrials * (2 + 4 * kCheckpoints)) << syncs;
  EXPECT_EQ(of_events.size(), kTrials * 2 + 2) << "start and end of each attempt, and of the session\n" << syncs;
  // One trial runs after the other, so the order is the file's order.
  ASSERT_FALSE(of_trials.empty());
  EXPECT_THAT(of_trials.front(), HasSubstr("metrics.jsonl")) << "before the first checkpoint";
}

// The metrics do not fit: no COMPLETED result exists without them, and the same command resumes once there is space.
TEST_F(DamagedResults, LeaveNoResultWithoutMetricsOnAFullDisk) {
  Write("full.yaml", R"(experiment: full
env: {plugin: cartpole}
learner: {plugin: random, options: {horizon: 1}}
budget: {iterations: 4000}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 1}
monitors: []
on_failure: {temp: {retry: 1}}
output: {dir: disk/full}
)");
  const auto runs = RunWithSmallDisk("1m", R"(
$backplane run full.yaml; echo $? >code
cp disk/full/events.jsonl .
mount -t tmpfs -o remount,nosuid,nodev,size=16m small disk
$backplane run full.yaml && $backplane status disk/full
)");
  if (!runs) GTEST_SKIP() << "cannot mount a small file system here";
  EXPECT_EQ(ReadFile(dir_ / "code"), "1\n") << runs->out;
  EXPECT_THAT(runs->err, HasSubstr("No space left on device"));
  const std::string events = ReadFile(dir_ / "events.jsonl");
  EXPECT_THAT(events, AllOf(HasSubstr("\"outcome\":\"temp\""), Not(HasSubstr("COMPLETED"))));
  EXPECT_THAT(events, testing::ContainsRegex(
                          "\"why\":\"cannot write [^\"]*/metrics.jsonl: No space left on device; no result was written: "));
  EXPECT_EQ(runs->exit, 0) << runs->err;
  EXPECT_THAT(runs->out, HasSubstr("completed"));
}

}  // namespace
}  // namespace backplane::end_to_end
