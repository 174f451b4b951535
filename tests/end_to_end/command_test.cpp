// Trials by command: users' programs instead of plugins.
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

// Each script's first lines, which users copy.
const std::string kImport = "import sys, os, time\nsys.path.insert(0, '" BACKPLANE_SOURCE_DIR
                            "/host/client')\nimport backplane_client\nsys.path.pop(0)\n";

class TrialByCommand : public BatchTest {
 protected:
  // Lines of a trial's metrics.jsonl over all attempts, without those that a later attempt repeats.
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

  // Processes that a command started: they run in folders below the test's.
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
  // As for a plugin's measures: in the table of all trials and in the report.
  const Finished csv = Run("export csv " + Out("search").string());
  ASSERT_EQ(csv.exit, 0) << csv.err;
  const Finished status = Run("status " + Out("search").string());
  EXPECT_EQ(status.exit, 0) << status.err;
  EXPECT_THAT(ReadFile(Out("search") / "report/run_report.md") + run.out, HasSubstr("return"));
  // The same command has no trial left to run.
  EXPECT_EQ(Run("run search.yaml").exit, 0);
  const std::vector<json> events = Events("search");
  EXPECT_EQ(std::count_if(events.begin(), events.end(), [](const json& event) { return event["kind"] == "attempt.start"; }), 4);
}

TEST_F(TrialByCommand, TheNextSupervisorResumesATrialAfterAKill) {
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
  EXPECT_EQ(again.exit, 0) << "the file differs from the record: " << again.err;
}

TEST_F(TrialByCommand, AStopReachesTheCommandAndTheTrialResumesLater) {
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

TEST_F(TrialByCommand, AFailureIsReportedWithTheLastLinesOfOutput) {
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

TEST_F(TrialByCommand, OutOfMemoryIsRecognizedByTheLastLinesOfOutput) {
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

TEST_F(TrialByCommand, CompletesAtTheEndOfItsBudget) {
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
              HasSubstr("wrong.yaml:1:53: error: learner.options.steps: expected the placeholder {steps} in "
                        "learner.command, got {lr}"));
  EXPECT_THAT(refused("{command: [echo, \"{lr}\"]}"),
              HasSubstr("wrong.yaml:1:27: error: {lr}: expected a value in learner.options.lr"));
  EXPECT_THAT(refused("{command: [echo, \"{\"]}"),
              HasSubstr("wrong.yaml:1:27: error: learner.command[1]: expected a placeholder such as {seed} or {lr} in '{'"));
  EXPECT_THAT(
      refused("{command: [no-such-program]}"),
      AllOf(HasSubstr("wrong.yaml:1:11: error: learner.command: expected a program on PATH"), HasSubstr("no-such-program")));
  EXPECT_THAT(refused("{command: [python3, trian.py]}"),
              HasSubstr("learner.command[1]: expected a file next to the experiment file"));
  EXPECT_THAT(refused("{command: [true], plugin: random}"), HasSubstr("expected a plugin or a command, got both"));
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
  EXPECT_THAT(refused("{command: [true], files: [none.txt]}"), HasSubstr("learner.files: expected a file or a folder"));
  EXPECT_THAT(refused("{command: [true]}\nbudget: {epochs: 3}"), HasSubstr("budget.epochs: a command does not report"));
  EXPECT_THAT(refused("{plugin: random, tensorboard: runs/**}\nenv: cartpole\nbudget: {iterations: 1}"),
              HasSubstr("learner.tensorboard: this key needs learner.command"));
}

TEST_F(TrialByCommand, AHundredMegabytesOfPrintFillNeitherMemoryNorDisk) {
  if (kSanitized) GTEST_SKIP() << "the measurement would include the sanitizer's memory";
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

TEST_F(TrialByCommand, KillsAllProcessesThatTheCommandStarted) {
  Write("leaves.yaml", R"(
learner: {command: [sh, -c, "setsid sleep 4321 & setsid sh -c 'sleep 4322 & sleep 4323' & sleep 0.3; echo left"]}
)");
  const Finished run = Run("run leaves.yaml");
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(OutLog("leaves"), HasSubstr("left"));
  for (const char* seconds : {"4321", "4322", "4323"}) EXPECT_FALSE(Runs({"sleep", seconds})) << seconds;
}

TEST_F(TrialByCommand, SilentComputationIsNoHangButSleepIs) {
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

TEST_F(TrialByCommand, RejectsAChangedScriptUnderFinishedTrialsUntilAccepted) {
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

TEST_F(TrialByCommand, RejectsOtherModulesOfItsScriptUntilTheyAreAccepted) {
  std::filesystem::create_directories(dir_ / "code/lib");
  Write("code/train.py", "import lib.net\nopen('copy.py', 'w').write('')\n");
  Write("code/lib/net.py", "print(1)\n");
  Write("modules.yaml", "learner: {command: [python3, code/train.py]}\noutput: {dir: code/out}\n");
  ASSERT_EQ(Run("run modules.yaml").exit, 0);
  EXPECT_EQ(Run("run modules.yaml").exit, 0) << "a trial's file in the results folder is no module";
  const auto expect_rejected = [&](const char* change) {
    const Finished rejected = Run("run modules.yaml");
    EXPECT_EQ(rejected.exit, 1) << change;
    EXPECT_THAT(rejected.err, AllOf(HasSubstr("files changed since these results were made"),
                                    HasSubstr("learner.command.1/modules"), HasSubstr("--accept-change")))
        << change;
    EXPECT_THAT(Run("run modules.yaml --dry-run").out, HasSubstr("learner.command.1/modules")) << change;
    EXPECT_EQ(Run("run modules.yaml --accept-change").exit, 0) << change;
  };
  Write("code/lib/net.py", "print(2)\n");
  expect_rejected("another content");
  Write("code/lib/more.py", "");
  expect_rejected("a new file");
  std::filesystem::remove_all(dir_ / "code/lib");
  Write("code/train.py", "import lib.net\nopen('copy.py', 'w').write('')\n");
  const Finished gone = Run("run modules.yaml");
  EXPECT_THAT(gone.err, HasSubstr("is gone"));
}

TEST_F(TrialByCommand, AsksForAListOfTooManyModules) {
  std::filesystem::create_directories(dir_ / "code");
  for (int i = 0; i <= 2000; ++i) Write("code/m" + std::to_string(i) + ".py", "");
  Write("many.yaml", "learner:\n  command: [python3, code/m0.py]\n");
  const Finished rejected = Run("run many.yaml --dry-run");
  EXPECT_EQ(rejected.exit, 2);
  EXPECT_THAT(rejected.err, AllOf(HasSubstr("many.yaml:2:3: error: learner.command.1: expected at most 2,000 Python files"),
                                  HasSubstr("list those that 'm0.py' uses in learner.files")));
  EXPECT_EQ(Run("run many.yaml --dry-run --set 'learner.files=[code/m0.py]'").exit, 0);
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

// 100 reports. The word selects the non-finite values.
const std::string kNotFinite = R"(
import json
nan, inf, way = float("nan"), float("inf"), sys.argv[1]
for i in range(8 if way == "few" else 100):
    value = {"middle": nan if i == 40 else 10.0, "in_the_tenth": nan if i == 95 else 10.0, "to_the_end": nan if i >= 90 else 10.0,
             "infinite": -inf if i >= 60 else 10.0, "never": nan, "from_the_start": nan if i < 50 else 10.0,
             "alternating": nan if i % 2 else 10.0, "few": nan if i >= 5 else 10.0, "rare": 10.0}[way]
    values = {"return": value, "ep/length": value, "loss": 1.0, "unlisted": value}
    if i % 30 == 0: values["eval/return"] = nan if way == "rare" and i else 3.0
    os.write(int(os.environ["BACKPLANE_REPORT_FD"]), (json.dumps({"step": i + 1, "values": values}) + "\n").encode())
)";

TEST_F(TrialByCommand, AMetricThatEndsNotFiniteHasDiverged) {
  Write("ends.py", kImport + kNotFinite);
  Write("ends.yaml", R"(
learner: {command: [python3, ends.py, "{way}"], options: {way: middle}}
sweep: {grid: {learner.options.way: [middle, in_the_tenth, to_the_end, infinite, never, from_the_start, alternating, few, rare]}}
report: {kind: comparison, columns: [return, eval/return], select: {metric: return}}
)");
  const Finished run = Run("run ends.yaml");
  EXPECT_EQ(run.exit, 3) << run.err << run.out;
  std::map<std::string, json> results;
  for (const auto& folder : std::filesystem::directory_iterator(Out("ends") / "trials"))
    results[json::parse(ReadFile(folder.path() / "trial.json"))["config"]["learner"]["options"]["way"]] =
        json::parse(ReadFile(folder.path() / "attempt-1/result.json"));
  ASSERT_EQ(results.size(), 9u);
  for (const char* way : {"middle", "in_the_tenth", "never", "from_the_start", "alternating"}) {
    EXPECT_EQ(results[way]["state"], "COMPLETED") << way;
    EXPECT_EQ(results[way]["outcome"], "ok") << way;
  }
  for (const char* way : {"to_the_end", "infinite", "few", "rare"}) {
    EXPECT_EQ(results[way]["state"], "FAILED") << way;
    EXPECT_EQ(results[way]["outcome"], "nan") << way;
  }
  EXPECT_EQ(results["to_the_end"]["error"],
            "diverged: 'return' was finite before, but is NaN or infinite in its last 10 of 100 reports");
  EXPECT_EQ(results["few"]["error"], "diverged: 'return' was finite before, but is NaN or infinite in its last 3 of 8 reports");
  EXPECT_THAT(results["rare"]["error"],
              HasSubstr("'eval/return' was finite before, but is NaN or infinite in its last 3 of 4"));
  EXPECT_EQ(results["in_the_tenth"]["return"]["mean"], 10);
  EXPECT_EQ(results["in_the_tenth"]["return"]["n"], 9) << "of the last 10 reports";
  EXPECT_EQ(results["alternating"]["return"]["n"], 5);
  EXPECT_EQ(results["never"]["return"]["mean"], nullptr);
  EXPECT_THAT(results["never"]["warnings"].dump(), HasSubstr("metric 'return' never had a finite value, so it has no result"));
  // One word per value, cell or remark at the end.
  const std::string report = ReadFile(Out("ends") / "report/comparison_report.md");
  const auto row = [&](const std::string& way) {
    const size_t at = report.find("| way=" + way + " ");
    return at == report.npos ? "" : report.substr(at, report.find('\n', at) - at);
  };
  EXPECT_THAT(row("never"), HasSubstr("| not finite |")) << report;
  EXPECT_THAT(row("in_the_tenth"), HasSubstr("return: 1 of the last 10 values are not finite"));
  EXPECT_THAT(row("to_the_end"), AllOf(HasSubstr("FAILED (nan)"), HasSubstr("not eligible: 1 of 1 runs diverged")));
  EXPECT_THAT(report, HasSubstr("Selected: way=middle"));
  const Finished csv = Run("export csv " + Out("ends").string());
  EXPECT_EQ(csv.exit, 0) << csv.err;
  // Divergence is a result: the same command has no trial left to run.
  EXPECT_EQ(Run("run ends.yaml").exit, 3);
  const std::vector<json> events = Events("ends");
  EXPECT_EQ(std::count_if(events.begin(), events.end(), [](const json& event) { return event["kind"] == "attempt.start"; }), 9);
}

TEST_F(TrialByCommand, DivergenceFollowsItsPolicyAndNoKeyOutsideTheIdentity) {
  Write("ends.py", kImport + kNotFinite);
  const std::string learner = "learner: {command: [python3, ends.py, to_the_end]}\n";
  Write("retried.yaml", learner + "on_failure: {nan: {retry: 1}}\n");
  EXPECT_EQ(Run("run retried.yaml").exit, 1);
  EXPECT_TRUE(std::filesystem::exists(Trial("retried") / "attempt-2"));
  Write("infeasible.yaml", learner + "on_failure: {nan: infeasible}\n");
  const Finished infeasible = Run("run infeasible.yaml");
  EXPECT_THAT(infeasible.out + infeasible.err, HasSubstr("infeasible: INFEASIBLE (nan)"));
  // Keys outside the identity do not decide.
  Write("shown.yaml", R"(
learner: {command: [python3, ends.py, middle]}
output: {live: [unlisted]}
report: {kind: comparison, columns: [unlisted], select: {metric: unlisted, direction: maximize}}
)");
  EXPECT_EQ(Run("run shown.yaml").exit, 0);
}

TEST_F(TrialByCommand, AResumedTrialHasDivergedByAllItsReports) {
  Write("again.py", kImport + R"(
folder, attempt = sys.argv[1], int(sys.argv[2])
open(os.path.join(folder, "kept"), "w").close()
for i in range(20):
    backplane_client.log({"loss": 1.0 if attempt == 1 and i < 18 else float("nan")}, step=100 * attempt + i)
if attempt == 1: os.kill(os.getpid(), 9)
)");
  Write("again.yaml", R"(
learner: {command: [python3, again.py, "{checkpoint_dir}", "{attempt}"]}
on_failure: {signal: {retry: 1}}
)");
  Run("run again.yaml");
  const json result = json::parse(ReadFile(Trial("again") / "attempt-2/result.json"));
  EXPECT_EQ(result["outcome"], "nan") << "the second attempt itself never had a finite loss";
  EXPECT_EQ(result["error"], "diverged: 'loss' was finite before, but is NaN or infinite in its last 4 of 40 reports");
}

TEST_F(TrialByCommand, WarnsOnceOfValuesThatAreNoNumbers) {
  Write("texts.py", kImport + R"(
import json, subprocess
def send(line): os.write(int(os.environ["BACKPLANE_REPORT_FD"]), (line + "\n").encode())
for i in range(5):
    send(json.dumps({"values": {"return": float(sys.argv[1]), "x": float("nan") if i == 2 else 1}, "step": i}))
    send('{"values": {"name": "run %s"}}' % sys.argv[1])
    send("hello " + sys.argv[1])
    print("accuracy: n/a" + sys.argv[1])
    backplane_client.log({"label": "run " + sys.argv[1], "list": [i]}, step=i)
client = os.path.dirname(backplane_client.__file__) + "/backplane_client.sh"
subprocess.run(["sh", "-c", '. "$0"; backplane_log shell=n/a', client], pass_fds=[int(os.environ["BACKPLANE_REPORT_FD"])])
)");
  Write("texts.yaml", R"yaml(
learner: {command: [python3, texts.py, "{seed}"], metrics: {accuracy: "accuracy: (.*)"}}
sweep: {seeds: {n: 3, first: 1}}
)yaml");
  const Finished run = Run("run texts.yaml --jobs 1");
  ASSERT_EQ(run.exit, 0) << run.err;
  for (const char* warning :
       {"NaN and Infinity are not JSON", "metric 'name': expected numbers", "metric 'accuracy': expected numbers",
        "metric 'label': expected numbers", "metric 'list': expected numbers", "metric 'shell': expected numbers",
        "expected one JSON report per line"}) {
    const size_t at = run.err.find(warning);
    ASSERT_NE(at, run.err.npos) << warning << run.err;
    EXPECT_EQ(run.err.find(warning, at + 1), run.err.npos) << warning << run.err;
  }
  EXPECT_THAT(run.err, HasSubstr("the first one: n/a1"));
  EXPECT_EQ(Lines(Out("texts") / "trials" / std::filesystem::directory_iterator(Out("texts") / "trials")->path().filename() /
                  "attempt-1/metrics.jsonl")
                .size(),
            5u)
      << "a line with a bare NaN is a report";
}

TEST_F(TrialByCommand, ItsTensorBoardFilesDecideToo) {
  Write("board.py", R"(
import struct, sys, os
def crc(data):
    table = []
    for n in range(256):
        for _ in range(8): n = n >> 1 ^ (0x82f63b78 if n & 1 else 0)
        table.append(n)
    c = 0xffffffff
    for byte in data: c = table[(c ^ byte) & 255] ^ c >> 8
    c ^= 0xffffffff
    return ((c >> 15 | c << 17) + 0xa282ead8) & 0xffffffff
def varint(n):
    out = b""
    while n > 127: out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])
def event(step, tag, value):
    one = b"\n" + varint(len(tag)) + tag.encode() + b"\x15" + struct.pack("<f", value)
    summary = b"\n" + varint(len(one)) + one
    return b"\t" + struct.pack("<d", 1.0) + b"\x10" + varint(step) + b"*" + varint(len(summary)) + summary
with open("events.out.tfevents.1", "wb") as file:
    for step in range(40):
        data = event(step, "losses/value_loss", float("nan") if step >= int(sys.argv[1]) else 1.0)
        head = struct.pack("<Q", len(data))
        file.write(head + struct.pack("<I", crc(head)) + data + struct.pack("<I", crc(data)))
)");
  for (const auto& [from, outcome] : {std::pair{"36", "nan"}, {"37", "ok"}}) {
    const std::string name = std::string("board_") + from;
    Write(name + ".yaml", "learner: {command: [python3, board.py, \"" + std::string(from) + "\"], tensorboard: \"*\"}\n");
    Run("run " + name + ".yaml");
    EXPECT_EQ(Result(name)["outcome"], outcome) << from << Result(name).dump();
    EXPECT_EQ(Result(name)["iterations"], 40) << from;
  }
}

TEST_F(TrialByCommand, CommandsThatNeedPluginsReportIt) {
  Write("plain.yaml", "learner: {command: [\"true\"]}\n");
  ASSERT_EQ(Run("run plain.yaml").exit, 0);
  const Finished bench = Run("bench plain.yaml"), render = Run("render " + Out("plain").string());
  EXPECT_EQ(bench.exit, 2);
  EXPECT_THAT(bench.err, HasSubstr("expected a learner plugin, got a command"));
  EXPECT_NE(render.exit, 0);
  EXPECT_THAT(render.err, HasSubstr("expected a plugin, got a command"));
}

}  // namespace
}  // namespace backplane::end_to_end
