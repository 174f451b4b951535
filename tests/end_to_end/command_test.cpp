// Trials by command: a program of the user's in the place of plugins.
#include <gmock/gmock.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <fstream>

#include "batch.hpp"

namespace backplane::end_to_end {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// What each script begins with: the file that users copy.
const std::string kImport = "import sys, os, time\nsys.path.insert(0, '" BACKPLANE_SOURCE_DIR
                            "/host/client')\nimport backplane_client\nsys.path.pop(0)\n";

class TrialByCommand : public BatchTest {
 protected:
  // The lines of metrics.jsonl of a trial, of all its attempts, without those that a later one said again.
  static std::vector<json> LinesOf(const std::filesystem::path& trial) {
    std::vector<json> all;
    for (int attempt = 1; std::filesystem::exists(trial / ("attempt-" + std::to_string(attempt))); ++attempt) {
      const std::vector<json> lines = Lines(trial / ("attempt-" + std::to_string(attempt)) / "metrics.jsonl");
      if (lines.empty()) continue;
      std::erase_if(all, [&](const json& line) { return line["iteration"] >= lines.front()["iteration"]; });
      all.insert(all.end(), lines.begin(), lines.end());
    }
    return all;
  }

  // Those that a command has started: they run in folders below the test's.
  bool Runs(const std::vector<std::string>& words) const {
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      std::error_code error;
      const std::string folder = std::filesystem::read_symlink(entry.path() / "cwd", error);
      const std::string line = ReadFile(entry.path() / "cmdline");
      const auto has = [&](const std::string& word) { return line.find(word) != std::string::npos; };
      if (folder.starts_with(dir_.string()) && std::all_of(words.begin(), words.end(), has)) return true;
    }
    return false;
  }

  std::filesystem::path Trial(const std::string& experiment) const { return Attempt(experiment).parent_path(); }
  std::string OutLog(const std::string& experiment) const { return ReadFile(Attempt(experiment) / "stdout.log"); }

  static std::vector<double> ValuesOf(const std::vector<json>& lines, const std::string& name) {
    std::vector<double> values;
    for (const json& line : lines) {
      const json measure = line.value(name, json::object());
      if (measure.contains("mean")) values.push_back(measure["mean"]);
    }
    return values;
  }
};

TEST_F(TrialByCommand, ASweepOfAScriptIsRunSeedBySeed) {
  Write("search.py", kImport + R"(
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int)
parser.add_argument("--lr", type=float)
args = parser.parse_args()
for step in range(1, 6):
    backplane_client.log({"return": args.lr * step, "eval": {"return": args.seed}, "loss": float("nan")}, step=100 * step)
print("in", os.getcwd(), os.environ["BACKPLANE_TRIAL_DIR"], os.environ["BACKPLANE_EXPERIMENT_DIR"], os.environ.get("RANK"))
)");
  Write("search.yaml", R"(
learner: {command: [python3, search.py, --seed, "{seed}", "--lr={lr}"], options: {lr: 0.5}}
sweep: {grid: {learner.options.lr: [0.5, 2]}, seeds: {n: 2, first: 7}}
)");
  const Finished run = Run("run search.yaml");
  ASSERT_EQ(run.exit, 0) << run.err << run.out;
  for (const auto& [lr, trial] : States("search", "learner.options.lr")) EXPECT_EQ(trial.state, "COMPLETED") << lr;
  size_t trials = 0;
  for (const auto& folder : std::filesystem::directory_iterator(Out("search") / "trials")) {
    ++trials;
    const json spec = json::parse(ReadFile(folder.path() / "trial.json"));
    const json result = json::parse(ReadFile(folder.path() / "attempt-1/result.json"));
    const double lr = spec["config"]["learner"]["options"]["lr"];
    const std::vector<json> lines = Lines(folder.path() / "attempt-1/metrics.jsonl");
    ASSERT_EQ(lines.size(), 5u);
    EXPECT_EQ(lines[2]["step"], 300);
    EXPECT_EQ(lines[2]["return"]["mean"], 3 * lr);
    EXPECT_EQ(lines[2]["eval"]["return"]["mean"], spec["config"]["seed"]);
    EXPECT_TRUE(lines[2]["metrics"]["loss"].is_null());
    EXPECT_EQ(result["iterations"], 5);
    EXPECT_EQ(result["env_steps"], 500);
    EXPECT_EQ(result["return"]["mean"], 5 * lr) << "the last tenth of the reports";
    EXPECT_EQ(result["evaluation"]["return"]["mean"], spec["config"]["seed"]);
    const std::string printed = ReadFile(folder.path() / "attempt-1/stdout.log");
    EXPECT_THAT(printed, HasSubstr("in " + std::filesystem::absolute(folder.path() / "attempt-1").string() + " " +
                                   std::filesystem::absolute(folder.path()).string() + " " + dir_.string() + " None"));
  }
  EXPECT_EQ(trials, 4u);
  // As a plugin's measures: in the table of all trials and in the report.
  const Finished csv = Run("export csv " + Out("search").string());
  ASSERT_EQ(csv.exit, 0) << csv.err;
  const Finished status = Run("status " + Out("search").string());
  EXPECT_EQ(status.exit, 0) << status.err;
  EXPECT_THAT(ReadFile(Out("search") / "report/run_report.md") + run.out, HasSubstr("return"));
  // The same command has nothing left to do.
  EXPECT_EQ(Run("run search.yaml").exit, 0);
  const std::vector<json> events = Events("search");
  EXPECT_EQ(std::count_if(events.begin(), events.end(), [](const json& event) { return event["kind"] == "attempt.start"; }), 4);
}

TEST_F(TrialByCommand, WhatItsSupervisorLostWithAKillTheNextOneGoesOnWith) {
  Write("steps.py", kImport + R"(
folder, seed = sys.argv[1], int(sys.argv[2])
count = os.path.join(folder, "count")
step = int(open(count).read()) if os.path.exists(count) else 0
print("from", step, "in", folder, "attempt", sys.argv[3])
while step < 40:
    time.sleep(0.05)
    step += 1
    backplane_client.log({"return": 10.0 * step}, step=step)
    if step % 4 == 0:
        with open(count + ".new", "w") as file: file.write(str(step))
        os.replace(count + ".new", count)
)");
  Write("steps.yaml", R"(
learner: {command: [python3, steps.py, "{checkpoint_dir}", "{seed}", "{attempt}"]}
sweep: {seeds: {n: 2}}
)");
  const pid_t first = Start("run steps.yaml");
  ASSERT_TRUE(Until([&] { return Metrics("steps").size() > 8; })) << ErrorsOf(first);
  kill(first, SIGKILL);
  Wait(first);
  ASSERT_TRUE(Until([&] { return !Runs({"steps.py"}); }, 10)) << "a command outlived its supervisor";
  const Finished second = Run("run steps.yaml");
  ASSERT_EQ(second.exit, 0) << second.err;
  std::vector<double> wanted;
  for (int step = 1; step <= 40; ++step) wanted.push_back(10 * step);
  size_t went_on = 0;
  for (const auto& trial : std::filesystem::directory_iterator(Out("steps") / "trials")) {
    EXPECT_EQ(ValuesOf(LinesOf(trial.path()), "return"), wanted) << trial.path();
    const std::string log = ReadFile(trial.path() / "attempt-2/stdout.log");
    if (log.empty()) continue;
    ++went_on;
    EXPECT_THAT(log, HasSubstr("in " + std::filesystem::absolute(trial.path() / "checkpoint").string() + " attempt 2"));
    EXPECT_THAT(log, Not(HasSubstr("from 0 ")));
    const json result = json::parse(ReadFile(trial.path() / "attempt-2/result.json"));
    EXPECT_EQ(result["iterations"], 40);
    EXPECT_EQ(result["metrics_parts"].size(), 2u);
    EXPECT_EQ(result["metrics_parts"][0]["lines"].get<int>() + result["metrics_parts"][1]["lines"].get<int>(), 40);
  }
  EXPECT_GE(went_on, 1u);
  const Finished again = Run("run steps.yaml --only-damaged");
  EXPECT_EQ(again.exit, 0) << "what was written is what the record says: " << again.err;
}

TEST_F(TrialByCommand, AStopIsPassedOnAndTheTrialGoesOnLater) {
  Write("patient.py", R"(
import os, signal, sys, time
mark = os.path.join(sys.argv[1], "saved")
if os.path.exists(mark): sys.exit(0)
def stop(number, frame):
    open(mark, "w").close()
    sys.exit(0)
signal.signal(signal.SIGTERM, stop)
print("waits", flush=True)
while True: time.sleep(1)
)");
  Write("patient.yaml", "learner: {command: [python3, patient.py, \"{checkpoint_dir}\"]}\n");
  const pid_t pid = Start("run patient.yaml");
  ASSERT_TRUE(Until([&] { return OutLog("patient").find("waits") != std::string::npos; })) << ErrorsOf(pid);
  kill(pid, SIGINT);
  const Finished stopped = Wait(pid);
  EXPECT_EQ(stopped.exit, 130) << stopped.err;
  EXPECT_EQ(Result("patient")["state"], "KILLED");
  EXPECT_EQ(Result("patient")["error"], "stopped on request");
  const Finished second = Run("run patient.yaml");
  EXPECT_EQ(second.exit, 0) << second.err;
  EXPECT_TRUE(std::filesystem::exists(Trial("patient") / "attempt-2/result.json"));
}

TEST_F(TrialByCommand, AFailureIsToldWithItsLastWords) {
  Write("fails.yaml", R"(
learner: {command: [sh, -c, "echo begun; echo 'ValueError: no such corpus' >&2; exit 3"]}
)");
  const Finished run = Run("run fails.yaml");
  EXPECT_EQ(run.exit, 1) << run.err;
  EXPECT_EQ(Result("fails")["state"], "FAILED");
  EXPECT_EQ(Result("fails")["error"], "sh ended with exit code 3; its last line: ValueError: no such corpus");
  EXPECT_THAT(Result("fails")["log_tail"].dump(), HasSubstr("ValueError: no such corpus"));
  Write("dies.yaml", "learner: {command: [sh, -c, \"kill -SEGV $$\"]}\non_failure: {signal: fail}\n");
  Run("run dies.yaml");
  EXPECT_EQ(Result("dies")["outcome"], "signal");
  EXPECT_EQ(Result("dies")["error"], "sh died of SIGSEGV");
}

TEST_F(TrialByCommand, OutOfMemoryIsToldFromItsLastLines) {
  Write("memory.yaml", R"(
learner: {command: [sh, -c, "echo '{words}' >&2; exit 1"], options: {words: none}}
sweep: {grid: {learner.options.words: [MemoryError, "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB", plain]}}
)");
  const Finished run = Run("run memory.yaml");
  EXPECT_EQ(run.exit, 1) << run.err;
  const auto states = States("memory", "learner.options.words");
  EXPECT_EQ(states.at("MemoryError").state, "INFEASIBLE");
  EXPECT_EQ(states.at("MemoryError").outcome, "oom");
  EXPECT_EQ(states.at("plain").state, "FAILED");
  bool on_device = false;
  for (const auto& [words, trial] : states)
    on_device = on_device || (trial.state == "INFEASIBLE" && words.starts_with("torch"));
  EXPECT_TRUE(on_device);
}

TEST_F(TrialByCommand, ABudgetEndsItAndItHasCompleted) {
  Write("endless.py", kImport + R"(
step = 0
while True:
    step += 10
    backplane_client.log({"return": step}, step=step)
    if step > 300: time.sleep(0.01)
)");
  Write("reports.yaml", "learner: {command: [python3, endless.py]}\nbudget: {iterations: 25}\n");
  Write("steps.yaml", "learner: {command: [python3, endless.py]}\nbudget: {env_steps: 120}\n");
  Write("time.yaml", "learner: {command: [sleep, \"1000\"]}\nbudget: {wall_time: 1s}\n");
  for (const char* name : {"reports", "steps", "time"}) {
    const Finished run = Run("run " + std::string(name) + ".yaml");
    EXPECT_EQ(run.exit, 0) << name << run.err;
    EXPECT_EQ(Result(name)["state"], "COMPLETED");
  }
  EXPECT_EQ(Metrics("reports").size(), 25u);
  EXPECT_EQ(Metrics("steps").back()["step"], 120);
  EXPECT_EQ(Metrics("steps").size(), 12u);
}

TEST_F(TrialByCommand, ItsLinesAreReadByPatterns) {
  Write("prints.py", R"(
for episode in range(1, 4):
    print(f"global_step={episode * 50}, episodic_return={episode * 1.5}")
    print(f"SPS: {1000 + episode}")
print("episodic_return=none, last without an end", end="")
)");
  Write("prints.yaml", R"yaml(
learner:
  command: [python3, prints.py]
  metrics: {step: "global_step=([0-9]+)", return: "episodic_return=([-0-9.]+)", SPS: "SPS: ([0-9]+)"}
)yaml");
  const Finished run = Run("run prints.yaml");
  ASSERT_EQ(run.exit, 0) << run.err;
  const std::vector<json> lines = Lines(Attempt("prints") / "metrics.jsonl");
  EXPECT_THAT(ValuesOf(lines, "return"), ElementsAre(1.5, 3, 4.5));
  EXPECT_EQ(lines[2]["step"], 100);
  EXPECT_EQ(lines[1]["time"]["sps"], 1001);
  EXPECT_EQ(Result("prints")["sps"], 1002.5) << "without the first";
}

TEST_F(TrialByCommand, OptionsAndPlaceholdersBelongTogether) {
  const auto refused = [this](const std::string& learner) {
    Write("wrong.yaml", "learner: " + learner + "\n");
    const Finished run = Run("run wrong.yaml");
    EXPECT_EQ(run.exit, 2) << learner;
    EXPECT_FALSE(std::filesystem::exists(Attempt("wrong"))) << learner;
    return run.err;
  };
  EXPECT_THAT(refused("{command: [echo, \"{lr}\"], options: {lr: 1, steps: 5}}"),
              HasSubstr("wrong.yaml:1:53: error: learner.options.steps: wanted a word of learner.command with the placeholder "
                        "{steps}, found {lr}"));
  EXPECT_THAT(refused("{command: [echo, \"{lr}\"]}"),
              HasSubstr("wrong.yaml:1:27: error: {lr}: wanted a value in learner.options.lr"));
  EXPECT_THAT(refused("{command: [echo, \"{\"]}"), HasSubstr("wrong.yaml:1:27: error: learner.command[1]: '{' has a '{'"));
  EXPECT_THAT(
      refused("{command: [no-such-program]}"),
      AllOf(HasSubstr("wrong.yaml:1:11: error: learner.command: wanted a program on PATH"), HasSubstr("no-such-program")));
  EXPECT_THAT(refused("{command: [python3, trian.py]}"),
              HasSubstr("learner.command[1]: wanted a file beside the experiment file"));
  EXPECT_THAT(refused("{command: [true], plugin: random}"), HasSubstr("wanted a plugin or a command, found both"));
  EXPECT_THAT(refused("{command: [true], metrics: {return: \"([0-9]\"}}"),
              HasSubstr("wrong.yaml:1:47: error: learner.metrics.return: expected a regular"));
  EXPECT_THAT(refused("{command: [true], metrics: {return: \"\\\\d(?=a)([0-9])\"}}"),
              HasSubstr("wrong.yaml:1:50: error: learner.metrics.return: expected a regular expression of RE2, got "
                        "'\\d(?=a)([0-9])': lookaround '(?=' is not supported"));
  EXPECT_THAT(refused("{command: [true], metrics: {return: 'it''s ([0-9])\\1'}}"),
              HasSubstr("wrong.yaml:1:60: error: learner.metrics.return: expected a regular expression of RE2, got "
                        "'it's ([0-9])\\1': backreference '\\1' is not supported"));
  EXPECT_THAT(refused("{command: [true], metrics: {return: \"(a)(?!b)\", loss: \"(a\"}}"),
              AllOf(HasSubstr("wrong.yaml:1:50: error: learner.metrics.return"), HasSubstr("error: learner.metrics.loss")));
  EXPECT_THAT(refused("{command: [true], files: [none.txt]}"), HasSubstr("learner.files: wanted a file or a folder"));
  EXPECT_THAT(refused("{command: [true]}\nbudget: {epochs: 3}"), HasSubstr("budget.epochs: only the command knows"));
  EXPECT_THAT(refused("{plugin: random, tensorboard: runs/**}\nenv: cartpole\nbudget: {iterations: 1}"),
              HasSubstr("learner.tensorboard: wanted with learner.command alone"));
}

TEST_F(TrialByCommand, WhatPrintsAHundredMegabytesFillsNeitherMemoryNorDisk) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's own memory would be measured";
  Write("prints.py", "import sys\nfor i in range(100): sys.stdout.write(('x' * 99 + '\\n') * 10000)\nprint('done 42')\n");
  Write("prints.yaml", "learner: {command: [python3, prints.py], metrics: {return: \"done ([0-9]+)\"}}\n");
  const Finished run = Run("run prints.yaml");
  ASSERT_EQ(run.exit, 0) << run.err;
  EXPECT_EQ(Result("prints")["return"]["mean"], 42);
  EXPECT_LT(std::filesystem::file_size(Attempt("prints") / "stdout.log"), 40u << 20);
  for (const json& event : Events("prints")) {
    if (event["kind"] != "attempt.end") continue;
    EXPECT_LT(event["peak_rss_bytes"], 60u << 20);
  }
}

TEST_F(TrialByCommand, NothingThatItStartedOutlivesIt) {
  Write("leaves.yaml", R"(
learner: {command: [sh, -c, "setsid sleep 4321 & setsid sh -c 'sleep 4322 & sleep 4323' & sleep 0.3; echo left"]}
)");
  const Finished run = Run("run leaves.yaml");
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(OutLog("leaves"), HasSubstr("left"));
  for (const char* seconds : {"4321", "4322", "4323"}) EXPECT_FALSE(Runs({"sleep", seconds})) << seconds;
}

TEST_F(TrialByCommand, ThatComputesInSilenceDoesNotHangAndOneThatSleepsDoes) {
  Write("computes.yaml", R"(
learner: {command: [python3, -c, "import time; end = time.time() + 5\nwhile time.time() < end: pass"]}
resources: {hang_timeout: 2s}
)");
  EXPECT_EQ(Run("run computes.yaml").exit, 0);
  Write("sleeps.yaml", "learner: {command: [sleep, \"1000\"]}\nresources: {hang_timeout: 2s}\n");
  EXPECT_EQ(Run("run sleeps.yaml").exit, 1);
  EXPECT_EQ(Result("sleeps")["outcome"], "timeout");
  EXPECT_FALSE(Runs({"sleep", "1000"}));
}

TEST_F(TrialByCommand, AnotherScriptUnderFinishedTrialsIsRefusedUntilItIsAccepted) {
  Write("script.sh", "echo one\n");
  Write("data.txt", "a");
  Write("changes.yaml", "learner: {command: [sh, script.sh], files: [data.txt]}\n");
  ASSERT_EQ(Run("run changes.yaml").exit, 0);
  for (const char* file : {"script.sh", "data.txt"}) {
    Write(file, "echo two\n");
    const Finished refused = Run("run changes.yaml");
    EXPECT_EQ(refused.exit, 1) << file;
    EXPECT_THAT(refused.err, HasSubstr("--accept-change")) << file;
    EXPECT_EQ(Run("run changes.yaml --accept-change").exit, 0) << file;
  }
}

TEST_F(TrialByCommand, IsComparedWithAPlugin) {
  Write("script.py", kImport + R"(
import random
random.seed(int(sys.argv[1]))
for step in range(1, 11): backplane_client.log({"return": 500 + random.random()}, step=100 * step)
)");
  Write("ab.yaml", R"(
env: cartpole
budget: {env_steps: 1000}
compare:
  metric: return
  looks: {n: 5, max: 1}
  arms:
    - {name: random, learner: {plugin: random, options: {horizon: 50}}}
    - {name: script, learner: {command: [python3, script.py, "{seed}"]}}
)");
  const Finished run = Run("compare ab.yaml");
  EXPECT_EQ(run.exit, 0) << run.err << run.out;
  EXPECT_THAT(run.out, HasSubstr("script"));
  EXPECT_THAT(run.out, HasSubstr("better"));
}

TEST_F(TrialByCommand, CommandsThatNeedPluginsSaySo) {
  Write("plain.yaml", "learner: {command: [\"true\"]}\n");
  ASSERT_EQ(Run("run plain.yaml").exit, 0);
  const Finished bench = Run("bench plain.yaml"), render = Run("render " + Out("plain").string());
  EXPECT_EQ(bench.exit, 2);
  EXPECT_THAT(bench.err, HasSubstr("its learner is a command"));
  EXPECT_NE(render.exit, 0);
  EXPECT_THAT(render.err, HasSubstr("is one by command"));
}

}  // namespace
}  // namespace backplane::end_to_end
