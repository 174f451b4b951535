// What is finished stays as it was, or the program says so: files lost and altered afterwards, and disks that are full.
#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

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
  std::vector<nlohmann::json> Events(const std::string& experiment) {
    std::vector<nlohmann::json> events;
    std::istringstream text(ReadFile(dir_ / "outputs" / experiment / "events.jsonl"));
    for (std::string line; std::getline(text, line);) events.push_back(nlohmann::json::parse(line));
    return events;
  }
  size_t Starts(const std::string& experiment) {
    size_t starts = 0;
    for (const nlohmann::json& event : Events(experiment)) starts += event["kind"] == "attempt.start" ? 1 : 0;
    return starts;
  }
  // Every command that reads results says what is wrong, with exit 1, and gives what it can.
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

TEST_F(DamagedResults, AreToldByEveryCommandAndRunAgainFromTheirBeginning) {
  Write("two.yaml", kTwoSeeds);
  ASSERT_EQ(Run("run two.yaml").exit, 0);
  EXPECT_EQ(Run("status outputs/two").exit, 0);
  const fs::path first = Attempt("two").parent_path();
  const std::string values = Values("two");
  const std::map<std::string, std::pair<std::string, std::function<void(const fs::path&)>>> ways = {
      {"metrics.jsonl: wanted 6 lines, found no such file", {"metrics.jsonl", [](const fs::path& file) { fs::remove(file); }}},
      {"metrics.jsonl: wanted 6 lines, found an empty file",
       {"metrics.jsonl", [](const fs::path& file) { fs::resize_file(file, 0); }}},
      {"metrics.jsonl: wanted 6 lines, found 5",
       {"metrics.jsonl", [](const fs::path& file) { fs::resize_file(file, fs::file_size(file) - 1); }}},
      {"metrics.jsonl: wanted 6 lines of checksum",
       {"metrics.jsonl", [](const fs::path& file) { std::fstream(file, std::ios::in | std::ios::out).seekp(20).put('#'); }}},
      {"found no such file", {"result.json", [](const fs::path& file) { fs::remove(file); }}},
      {"found an empty file", {"result.json", [](const fs::path& file) { fs::resize_file(file, 0); }}},
      {"result.json: wanted SHA-256",
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
    EXPECT_THAT(again.err, AllOf(HasSubstr("is damaged and still to do: "), HasSubstr(sentence)));
    EXPECT_EQ(Starts("two"), before + 1) << "the other trial is whole";
    EXPECT_EQ(Run("status outputs/two").exit, 0) << sentence;
    std::string now, line;
    std::istringstream lines(ReadFile(first / ("attempt-" + std::to_string(attempt)) / "metrics.jsonl"));
    while (std::getline(lines, line)) {
      nlohmann::json json = nlohmann::json::parse(line);
      json.erase("time");
      now += json.dump() + "\n";
    }
    EXPECT_EQ(now, values) << "all of it, from the first iteration";
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
  EXPECT_EQ(Run("run two.yaml --only-damaged").exit, 0);
  EXPECT_EQ(Starts("two"), 1u) << "the second seed is not damaged, it has not run";
  EXPECT_EQ(Run("run two.yaml --only-damaged --only-failed").exit, 2);
  EXPECT_EQ(Run("run two.yaml").exit, 0);
  EXPECT_EQ(Starts("two"), 2u);
}

// A folder as it was before ends of attempts held the number of lines.
TEST_F(DamagedResults, OfAnOlderVersionAreFoundByTheirIterations) {
  Write("two.yaml", kTwoSeeds);
  ASSERT_EQ(Run("run two.yaml").exit, 0);
  const fs::path out = dir_ / "outputs/two";
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
  EXPECT_THAT(Run("status outputs/two").err, HasSubstr("metrics.jsonl: wanted 6 iterations, found an empty file"));
  EXPECT_EQ(Run("run two.yaml").exit, 0);
  EXPECT_EQ(Run("status outputs/two").exit, 0);
}

TEST_F(DamagedResults, WhatStartsFromThemAndHasNotRunWaits) {
  if (!HasPlugin("learner_ars.so")) GTEST_SKIP() << "built without this learner";
  Write("steps.yaml", R"(experiment: steps
env: {plugin: pendulum}
learner: {plugin: ars, options: {num_dirs: 2, top_dirs: 1, hidden: [4]}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 1}
monitors: []
phases:
  - {name: first, budget.iterations: 2}
  - {name: second, budget.iterations: 2}
)");
  ASSERT_EQ(Run("run steps.yaml").exit, 0);
  const fs::path out = dir_ / "outputs/steps";
  // As if the supervisor had been killed when the first phase had ended.
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

// A trial that was stopped has its lines in two attempts' folders, and both belong to it.
TEST_F(DamagedResults, AreFoundInEveryAttemptThatCounts) {
  if (!HasPlugin("learner_ars.so")) GTEST_SKIP() << "built without this learner";
  constexpr int kIterations = kSanitized ? 200 : 800;
  Write("long.yaml", std::string(R"(experiment: long
env: {plugin: pendulum}
learner: {plugin: ars, options: {num_dirs: 2, top_dirs: 1, hidden: [4]}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 1}
checkpoint: {every_iterations: 5}
monitors: []
budget: {iterations: )") +
                         std::to_string(kIterations) + "}\n");
  const pid_t pid = Start("run long.yaml");
  for (int i = 0; i < 6000 && ReadFile(Attempt("long") / "metrics.jsonl").size() < 4000; ++i) usleep(5'000);
  kill(pid, SIGKILL);
  EXPECT_EQ(Wait(pid).exit, 128 + SIGKILL);
  ASSERT_EQ(Run("run long.yaml").exit, 0);
  const nlohmann::json parts = nlohmann::json::parse(ReadFile(Attempt("long", 2) / "result.json"))["metrics_parts"];
  ASSERT_EQ(parts.size(), 2u) << "it went on from a checkpoint";
  EXPECT_EQ(parts[0]["lines"].get<int>() + parts[1]["lines"].get<int>(), kIterations);
  EXPECT_EQ(Run("status outputs/long").exit, 0);
  const fs::path first = Attempt("long") / "metrics.jsonl";
  std::fstream(first, std::ios::in | std::ios::out).seekp(30).put('#');
  EXPECT_THAT(Run("status outputs/long").err, HasSubstr("attempt-1/metrics.jsonl: wanted "));
}

// Who waits for the disk how often, and for what first; seen from outside.
TEST_F(DamagedResults, AreGuardedWithFewWaitsForTheDisk) {
  if (kSanitized || std::system("strace -o /dev/null true 2>/dev/null") != 0) GTEST_SKIP() << "no strace here";
  Write("two.yaml", kTwoSeeds);
  const std::string command = "cd " + dir_.string() + " && strace -f -y -e trace=fsync,fdatasync -o syncs " +
                              BACKPLANE_BINARY_DIR
                              "/bin/backplane run two.yaml --set checkpoint.every_iterations=2 >/dev/null 2>&1";
  ASSERT_EQ(std::system(command.c_str()), 0);
  std::vector<std::string> of_trials, of_events;
  std::istringstream lines(ReadFile(dir_ / "syncs"));
  for (std::string line; std::getline(lines, line);) {
    if (line.find("resumed>") != std::string::npos || line.find("sync(") == std::string::npos) continue;
    if (line.find("/trials/") != std::string::npos) of_trials.push_back(line);
    if (line.find("/events.jsonl") != std::string::npos) of_events.push_back(line);
  }
  constexpr size_t kTrials = 2, kCheckpoints = 3;  // after 2 and 4 iterations, and at the end
  EXPECT_LE(of_trials.size(), kTrials * (3 + 3 * kCheckpoints)) << ReadFile(dir_ / "syncs");
  EXPECT_EQ(of_events.size(), kTrials * 2 + 2) << "start and end of each attempt, and of the session";
  // With one trial after the other the order is that of the file.
  ASSERT_FALSE(of_trials.empty());
  EXPECT_THAT(of_trials.front(), HasSubstr("metrics.jsonl")) << "before the first checkpoint";
}

// The metrics do not fit: no result that says COMPLETED without them, and the same command goes on when there is room.
TEST_F(DamagedResults, NeverComeOfAFullDisk) {
  const fs::path disk = dir_ / "disk";
  fs::create_directories(disk);
  if (std::system(("mount -t tmpfs -o size=1m tmpfs " + disk.string() + " 2>/dev/null").c_str()) != 0)
    GTEST_SKIP() << "may not mount a small file system here";
  Write("full.yaml", R"(experiment: full
env: {plugin: cartpole}
learner: {plugin: random, options: {horizon: 1}}
budget: {iterations: 4000}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 1}
monitors: []
on_failure: {temp: {retry: 1}}
output: {dir: disk/full}
)");
  const Finished full = Run("run full.yaml");
  EXPECT_EQ(full.exit, 1) << full.out;
  EXPECT_THAT(full.err, HasSubstr("No space left on device"));
  const std::string events = ReadFile(disk / "full/events.jsonl");
  EXPECT_THAT(events, AllOf(HasSubstr("\"outcome\":\"temp\""), Not(HasSubstr("COMPLETED"))));
  EXPECT_THAT(events, testing::ContainsRegex(
                          "\"why\":\"cannot write [^\"]*/metrics.jsonl: No space left on device; no result was written: "));
  EXPECT_EQ(std::system(("mount -o remount,size=16m " + disk.string()).c_str()), 0);
  const Finished again = Run("run full.yaml"), status = Run("status disk/full");
  std::system(("umount " + disk.string()).c_str());
  EXPECT_EQ(again.exit, 0) << again.err;
  EXPECT_EQ(status.exit, 0) << status.err;
  EXPECT_THAT(status.out, HasSubstr("completed"));
}

}  // namespace
}  // namespace backplane::end_to_end
