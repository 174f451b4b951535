// Faulty monitors, plugins that change the state of their process, ticks and stops. The trial's numbers equal a calm run's, and
// messages name the right plugin.
#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "places.hpp"
#include "program.hpp"

namespace backplane::end_to_end {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr char kFixtures[] = BACKPLANE_BINARY_DIR "/tests/fixtures/plugins";

class ProcessState : public ProgramTest {
 protected:
  struct Outcome {
    Finished run;
    nlohmann::json result;
    std::string values;
    std::vector<std::string> warnings() const { return result.value("warnings", std::vector<std::string>()); }
  };

  void WriteFile(const std::string& monitors = "[unruly]", const std::string& more = "") {
    Write("walk.yaml", R"(experiment: walk
env: {plugin: unsettles}
learner: {plugin: upsets}
rollout: {num_env_runners: 2, num_envs_per_env_runner: 2, threads: 2}
budget: {iterations: 4}
evaluation: {episodes: 2, every_iterations: 2}
monitors: )" + monitors + "\n" +
                           more);
  }
  Outcome RunIt(const std::string& set) {
    const Finished run = Run("run walk.yaml --fresh --plugin-path " + std::string(kFixtures) + set);
    return {run, Result("walk"), Values("walk")};
  }
  // Values of a run whose plugins change nothing.
  const std::string& Calm() {
    if (calm_.empty()) {
      const Outcome calm = RunIt("");
      EXPECT_EQ(calm.run.exit, 0) << calm.run.err;
      EXPECT_THAT(calm.warnings(), IsEmpty());
      EXPECT_THAT(calm.values, HasSubstr("train/weight"));
      calm_ = calm.values;
    }
    return calm_;
  }
  static std::string With(const std::string& kind, const std::string& call, const std::string& fault) {
    return " --set " + kind + ".options.call=" + call + " --set " + kind + ".options.fault=" + fault;
  }
  static std::string Monitor(const std::string& call, const std::string& fault, const std::string& others = "") {
    return " --set \"monitors=[{plugin: unruly, options: {call: " + call + ", fault: " + fault + "}}" + others + "]\"";
  }

  std::string calm_;
};

struct StateRow {
  const char *fault, *sentence;
};
constexpr StateRow kState[] = {
    {"rounding", "changed the rounding mode"},
    {"traps", "changed the trapped floating-point exceptions"},
#if defined(__x86_64__)
    {"flush", "changed flush-to-zero"},
    {"x87", "changed the precision of the x87 unit"},
#endif
    {"locale", "changed the locale to C.UTF-8"},
    {"cpp_locale", "changed the locale to C.UTF-8"},
    {"thread_locale", "changed the locale of a thread"},
    {"folder", "changed the working directory to /"},
    {"umask", "changed the umask to 777"},
    {"sigterm", "changed the handler of SIGTERM"},
    {"sigfpe", "changed the handler of SIGFPE"},
    {"sigchld", "changed the handler of SIGCHLD"},
    {"blocked", "changed the signals that a thread accepts"},
};

TEST_F(ProcessState, ThatAnEnvOrALearnerChangesIsRestoredAndReported) {
  WriteFile();
  const std::tuple<const char*, const char*, const char*> calls[] = {{"env", "step", "env.unsettles"},
                                                                     {"env", "create", "env.unsettles"},
                                                                     {"learner", "act", "learner.upsets"},
                                                                     {"learner", "consume", "learner.upsets"}};
  const std::string& calm = Calm();
  for (const StateRow& row : kState) {
    for (const auto& [kind, call, id] : calls) {
      if (kSanitized && std::string_view(call) != "step") continue;  // each case runs a process
#if defined(__SANITIZE_THREAD__)
      // Other threads read it while it is set: the race is the fault, and a report of it would end the trial.
      if (row.fault == std::string_view("locale") || row.fault == std::string_view("cpp_locale")) continue;
#endif
      SCOPED_TRACE(std::string(row.fault) + " after " + id + " " + call);
      const Outcome found = RunIt(With(kind, call, row.fault));
      EXPECT_EQ(found.run.exit, 0) << found.run.err;
      EXPECT_EQ(found.values, calm);
      ASSERT_THAT(found.warnings(), SizeIs(1)) << found.result["warnings"];
      EXPECT_THAT(found.warnings()[0],
                  AllOf(testing::StartsWith(std::string(id) + " " + row.sentence), HasSubstr("was restored")));
      EXPECT_THAT(found.run.err, HasSubstr(row.sentence)) << "at the terminal";
    }
  }
}

// A single late change while env and learner both run has no certain author, so the message names both.
TEST_F(ProcessState, ThatIsChangedOnceNamesBothPossiblePlugins) {
  WriteFile();
  const Outcome once = RunIt(With("env", "step", "folder") + " --set env.options.first=50 --set env.options.last=50");
  EXPECT_EQ(once.values, Calm());
  ASSERT_THAT(once.warnings(), SizeIs(1));
  EXPECT_THAT(once.warnings()[0], HasSubstr("env.unsettles or learner.upsets changed the working directory"));
  const Outcome often = RunIt(With("env", "step", "folder") + " --set env.options.first=50");
  ASSERT_THAT(often.warnings(), SizeIs(1));
  EXPECT_THAT(often.warnings()[0], HasSubstr("env.unsettles changed the working directory")) << "noticed at the next check";
}

// Each act takes longer than the interval of close checks.
TEST_F(ProcessState, ThatAnEnvChangesDuringASlowLearnersActNamesTheEnv) {
  WriteFile("[]");
  const Outcome found =
      RunIt(With("env", "step", "folder") +
            " --set learner.options.act_ms=60 --set budget.iterations=2 --set evaluation.episodes=0 --set env.options.last=60");
  ASSERT_THAT(found.warnings(), SizeIs(1)) << found.run.err;
  EXPECT_THAT(found.warnings()[0], HasSubstr("env.unsettles changed the working directory"));
}

// Sources of a locale with a decimal comma, because few machines have such a locale installed.
std::string Characters() {
  std::string characters = "<code_set_name> ANSI_X3.4-1968\n<escape_char> /\nCHARMAP\n";
  for (int c = 0; c < 128; ++c) {
    char line[64];
    std::snprintf(line, sizeof line, "<U%04X> /x%02x one\n", c, c);
    characters += line;
  }
  return characters + "END CHARMAP\n";
}
constexpr char kCommaNumbers[] = "LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \"\"\ngrouping -1\nEND LC_NUMERIC\n";

TEST_F(ProcessState, WithACommaLocaleDoesNotAffectOurFiles) {
  const std::filesystem::path locale = dir_ / "locales/comma";
  std::filesystem::create_directories(locale.parent_path());
  const std::string sources =
      " -f " + Write("characters", Characters()).string() + " -i " + Write("numbers", kCommaNumbers).string();
  // Without -c, localedef rejects a locale that lacks the other categories; it warns in any case.
  std::system(("localedef -c" + sources + " " + locale.string() + " >/dev/null 2>&1").c_str());
  if (!std::filesystem::exists(locale / "LC_NUMERIC")) GTEST_SKIP() << "no localedef here";
  WriteFile();
  const std::string calm = Calm();
  setenv("LOCPATH", locale.parent_path().c_str(), 1);
  // After the last check of an iteration, so that it applies while the line is written.
  const Outcome found = RunIt(With("learner", "plan", "comma"));
  unsetenv("LOCPATH");
  EXPECT_EQ(found.values, calm);
  EXPECT_THAT(found.warnings(), ElementsAre(HasSubstr("learner.upsets changed the locale to comma")));
}

class BadMonitor : public ProcessState {};

struct MonitorRow {
  const char *call, *fault, *sentence;
};
constexpr MonitorRow kMonitor[] = {
    {"create", "throw",
     "monitor.unruly was switched off: create: monitor.unruly: threw an exception: thrown across the boundary"},
    {"create", "fail", "monitor.unruly was switched off: create: the disk of this monitor is full"},
    {"create", "no_instance", "monitor.unruly was switched off: create: returned no instance and no error"},
    {"interests", "throw", "monitor.unruly was switched off: interests: "},
    {"on_events", "throw", "monitor.unruly was switched off: on_events: "},
    {"on_events", "throw_odd", "threw an exception that is not a std::exception"},
    {"on_events", "fail", "monitor.unruly was switched off: on_events: the disk of this monitor is full"},
    {"on_events", "fail_silently", "monitor.unruly was switched off: on_events: no reason given"},
    {"on_events", "long_text", "bytes more)"},
    {"on_events", "log_a_lot", "bytes more)"},
    {"sample", "throw", "monitor.unruly was switched off: sample: "},
    {"sample", "fail", "monitor.unruly was switched off: sample: the disk of this monitor is full"},
    {"finish", "throw", "monitor.unruly was switched off: finish: "},
    {"finish", "fail", "monitor.unruly was switched off: finish: the disk of this monitor is full"},
    {"finish", "exit", "monitor.unruly called exit()"},
    {"finish", "quit", "ended with exit code 3 after the trial had ended"},
    {"finish", "segv", "monitor.unruly died of SIGSEGV after the trial had ended"},
    {"destroy", "throw", "monitor.unruly was switched off: destroy: "},
    {"on_events", "rounding", "monitor.unruly changed the rounding mode"},
    {"on_events", "exit", "monitor.unruly called exit()"},
    {"on_events", "folder", "changed the working directory"},  // also checked for env and learner, with their names
    {"sample", "locale", "monitor.unruly changed the locale"},
    {"sample", "blocked", "monitor.unruly changed the signals that a thread accepts"},
    {"finish", "umask", "monitor.unruly changed the umask"},
    {"create", "sigterm", "monitor.unruly changed the handler of SIGTERM"},
#if defined(__x86_64__)
    {"interests", "flush", "monitor.unruly changed flush-to-zero"},
#endif
    {"destroy", "folder", "monitor.unruly changed the working directory"},
};
// Each row runs a process, which takes seconds with a sanitizer, so only one row of each kind runs there. Kinds: a failing
// call, a truncated text, an end of the process, and changed state in the monitors' thread or the trial's.
bool RunsSanitized(const MonitorRow& row) {
  const std::string name = std::string(row.call) + " " + row.fault;
  for (const char* kind : {"create throw", "on_events fail", "on_events log_a_lot", "sample throw", "finish segv",
                           "on_events rounding", "create sigterm"})
    if (name == kind) return true;
  return false;
}

TEST_F(BadMonitor, IsSwitchedOffAndNamed) {
  WriteFile();
  const std::string& calm = Calm();
  for (const MonitorRow& row : kMonitor) {
    if (kSanitized && !RunsSanitized(row)) continue;
    SCOPED_TRACE(std::string(row.fault) + " in " + row.call);
    const Outcome found = RunIt(Monitor(row.call, row.fault));
    EXPECT_EQ(found.run.exit, 0) << found.run.err;
    EXPECT_EQ(found.result["state"], "COMPLETED");
    EXPECT_EQ(found.values, calm);
    const testing::Matcher<std::string> names_it =
        std::string_view(row.fault) == "quit" ? HasSubstr("") : HasSubstr("monitor.unruly");
    EXPECT_THAT(found.warnings(), testing::Contains(AllOf(names_it, HasSubstr(row.sentence)))) << found.result["warnings"];
    for (const std::string& warning : found.warnings()) EXPECT_LT(warning.size(), 4200u);
  }
}

// A monitor that rejects its trial or its options; the error, and its line in the file.
struct RejectingMonitor {
  const char *plugin, *words, *place;
};
constexpr RejectingMonitor kRejecting[] = {
    {"{plugin: unruly, options: {call: create, fault: refuse}}",
     "monitor.unruly: create: this monitor listens to no such trial", "walk.yaml:9:"},
    {"{plugin: picky, options: {colour: none}}", "monitor.picky: create: this monitor dislikes every trial", "walk.yaml:9:"},
    {"{plugin: picky, options: {colour: green}}", "monitor.picky: create: colour: this monitor dislikes green",
     "walk.yaml:9:31: error"},
};

TEST_F(BadMonitor, EndsRunBeforeItsStartIfItRejectsIt) {
  for (const RejectingMonitor& row : kRejecting) {
    SCOPED_TRACE(row.words);
    WriteFile("\n  - resources\n  - " + std::string(row.plugin) + "\n  - {plugin: unruly}");
    for (const char* command : {"run walk.yaml", "config check walk.yaml"}) {
      const Finished run = Run(command + (" --plugin-path " + std::string(kFixtures)));
      EXPECT_EQ(run.exit, 2) << run.err;
      EXPECT_THAT(run.err, AllOf(HasSubstr(row.words), HasSubstr(row.place), testing::Not(HasSubstr("learner.upsets"))));
    }
    EXPECT_TRUE(Result("walk").empty()) << "no trial was started";
  }
}

// A node of a cluster starts a trial without this check.
TEST_F(BadMonitor, EndsItsTrialImmediatelyIfItRejectsIt) {
  WriteFile("\n  - resources\n  - {plugin: unruly}\n  - {plugin: unruly}");
  ASSERT_EQ(RunIt("").run.exit, 0);
  nlohmann::json spec = nlohmann::json::parse(ReadFile(Attempt("walk").parent_path() / "trial.json"));
  spec["config"]["monitors"][1]["options"] = {{"call", "create"}, {"fault", "refuse"}};
  const std::filesystem::path folder = dir_ / "refused";
  spec["attempt_dir"] = folder.string();
  spec["checkpoint_dir"] = (folder / "checkpoint").string();
  std::filesystem::create_directories(folder);
  Write("refused/trial.json", spec.dump());
  EXPECT_EQ(Run("run-trial refused/trial.json").exit, 78);
  const nlohmann::json result = nlohmann::json::parse(ReadFile(folder / "result.json"));
  EXPECT_EQ(result["outcome"], "config");
  EXPECT_EQ(result["plugin"], "monitor.unruly");
  EXPECT_THAT(result["error"].get<std::string>(),
              AllOf(HasSubstr("this monitor listens to no such trial"), HasSubstr("walk.yaml:9:")));
}

TEST_F(BadMonitor, IsNamedAtItsLineIfItCrashesInCreate) {
  WriteFile("\n  - resources\n  - {plugin: unruly, options: {call: create, fault: segv}}");
  const Finished run = Run("run walk.yaml --plugin-path " + std::string(kFixtures));
  EXPECT_EQ(run.exit, 1) << run.err;
  EXPECT_THAT(run.err, AllOf(HasSubstr("walk.yaml:9:"), HasSubstr("error: monitor.unruly: died of SIGSEGV")));
}

TEST_F(BadMonitor, IsLeftOutIfItHangsInCreate) {
  WriteFile("\n  - {plugin: unruly, options: {call: create, fault: hang}}\n  - resources");
  const Outcome found = RunIt("");
  EXPECT_EQ(found.result["state"], "COMPLETED") << found.run.err;
  EXPECT_THAT(found.warnings(),
              testing::Contains(HasSubstr("monitor.unruly: still in create after 5 s; the trial starts without it")));
}

TEST_F(BadMonitor, ThatHangsCostsNoTrialWithAShortHangTimeout) {
  for (const char* call : {"create", "interests", "on_events", "sample", "finish", "destroy"}) {
    SCOPED_TRACE(call);
    WriteFile("\n  - {plugin: unruly, options: {call: " + std::string(call) + ", fault: hang}}",
              std::string("resources: {hang_timeout: ") + (kSanitized ? "15s" : "3s") + "}\n");
    const Outcome found = RunIt("");
    EXPECT_EQ(found.run.exit, 0) << found.run.err;
    EXPECT_EQ(found.result["state"], "COMPLETED") << found.run.err;
    EXPECT_THAT(found.warnings(), testing::Contains(HasSubstr("monitor.unruly")));
    EXPECT_THAT(found.run.err, testing::Not(HasSubstr("SIGKILL")));
    if (kSanitized) break;
  }
}

TEST_F(BadMonitor, LosesItsMetricsBeyondTheLimit) {
  WriteFile();
  const Outcome many = RunIt(Monitor("create", "many_metrics"));
  EXPECT_EQ(many.run.exit, 0) << many.run.err;
  EXPECT_EQ(many.values, Calm());
  const auto is_its_own = [](const auto& measure) { return measure.first.starts_with("m/"); };
  const auto measures = many.result["measures"].get<std::map<std::string, nlohmann::json>>();
  EXPECT_EQ(std::count_if(measures.begin(), measures.end(), is_its_own), 10'000) << "as many as all monitors may have";
  EXPECT_TRUE(measures.contains("train/weight"));
  const Outcome odd = RunIt(Monitor("sample", "odd_metric"));
  EXPECT_EQ(odd.run.exit, 0) << odd.run.err;
  EXPECT_EQ(odd.values, Calm());
  EXPECT_TRUE(odd.result["measures"].contains("train/weight")) << odd.result["measures"];
  for (const auto& [name, measure] : odd.result["measures"].items()) {
    EXPECT_NE(name, "");
    EXPECT_LE(name.size(), 256u);
  }
}

TEST_F(BadMonitor, ThatHangsOrIsSlowLosesNothing) {
  WriteFile();
  const std::string& calm = Calm();
  for (const char* call : {"interests", "on_events", "finish"}) {
    SCOPED_TRACE(call);
    const auto start = std::chrono::steady_clock::now();
    const Outcome found = RunIt(Monitor(call, "hang", ", resources"));
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    EXPECT_EQ(found.result["state"], "COMPLETED") << found.run.err;
    EXPECT_EQ(found.values, calm);
    EXPECT_THAT(found.warnings(), testing::Contains(AllOf(HasSubstr("monitor.unruly was abandoned in "), HasSubstr(call))));
    EXPECT_LT(seconds, kSanitized ? 90 : 45);
    if (kSanitized) break;
  }
  const Outcome slow = RunIt(Monitor("finish", "slow"));
  EXPECT_EQ(slow.values, calm);
  EXPECT_THAT(slow.warnings(), IsEmpty()) << "it ended in time";
}

TEST_F(BadMonitor, FindsTheResultThereBeforeItFinishes) {
  WriteFile();
  const pid_t pid = Start("run walk.yaml --plugin-path " + std::string(kFixtures) + Monitor("finish", "hang"));
  nlohmann::json seen;
  Until([&] { return !(seen = Result("walk")).empty(); });
  EXPECT_EQ(seen["state"], "COMPLETED");
  EXPECT_EQ(seen["iterations"], 4);
  EXPECT_EQ(waitpid(pid, nullptr, WNOHANG), 0) << "and the monitor still hangs";
  Wait(pid);
}

TEST_F(BadMonitor, CannotPaintTheTerminal) {
  WriteFile();
  const Outcome found = RunIt(Monitor("on_events", "odd_text"));
  EXPECT_THAT(found.run.err, AllOf(HasSubstr("red \\x1b[31m, a bell"), HasSubstr("; a second line")));
  EXPECT_THAT(found.run.err, testing::Not(HasSubstr("\x1b[31m")));
  EXPECT_THAT(found.run.err, testing::Not(HasSubstr("\a")));
}

class Ticks : public ProcessState {
 protected:
  // Waits until the trial enters the phase of its ticks.
  bool Ticking() const {
    return Until([&] { return ReadFile(Attempt("walk") / "status").find("update_forward") != std::string::npos; });
  }
};

TEST_F(Ticks, AreBetweenWhichAStopIsSeen) {
  WriteFile("[]");
  const pid_t pid = Start("run walk.yaml --plugin-path " + std::string(kFixtures) +
                          " --set learner.options.only_ticks=true --set learner.options.tick_ms=300");
  ASSERT_TRUE(Ticking()) << ErrorsOf(pid);
  kill(pid, SIGINT);
  const auto start = std::chrono::steady_clock::now();
  const Finished run = Wait(pid);
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), kSanitized ? 20 : 8) << run.err;
  EXPECT_EQ(Result("walk")["state"], "KILLED");
  EXPECT_TRUE(std::filesystem::exists(Attempt("walk").parent_path() / "checkpoint"));
}

TEST_F(Ticks, AreBetweenWhichABudgetEnds) {
  WriteFile("[]");
  const Outcome found = RunIt(
      " --set learner.options.only_ticks=true --set learner.options.tick_ms=200 --set budget.wall_time=1s --set "
      "evaluation.episodes=0");
  EXPECT_EQ(found.result["state"], "COMPLETED") << found.run.err;
  EXPECT_EQ(found.result["iterations"], 0);
}

TEST_F(Ticks, AreRecordedIfLongerThanASecond) {
  WriteFile("[]");
  const Outcome found = RunIt(" --set budget.iterations=1 --set learner.options.ticks=2 --set learner.options.tick_ms=1200");
  ASSERT_THAT(found.result["long_ticks"], SizeIs(1)) << found.run.err;
  EXPECT_EQ(found.result["long_ticks"][0]["phase"], "update_forward");
  EXPECT_EQ(found.result["long_ticks"][0]["count"], 2);
  EXPECT_GE(found.result["long_ticks"][0]["longest_s"], 1.2);
  EXPECT_FALSE(RunIt(" --set budget.iterations=1").result.contains("long_ticks"));
}

class Stopped : public Ticks {};

TEST_F(Stopped, TimeIsNoTimeOfTheTrial) {
  // Longer than the trial's own limit, shorter than the shim's, which is twice that.
  constexpr int kHang_s = kSanitized ? 16 : 8, kStopped_s = kHang_s * 3 / 2;
  WriteFile("[]", "resources: {hang_timeout: " + std::to_string(kHang_s) + "s}\n");
  // 4 iterations of 5 ticks of 100 ms: about 2 s.
  const pid_t pid = Start("run walk.yaml --plugin-path " + std::string(kFixtures) +
                          " --set learner.options.ticks=5 --set learner.options.tick_ms=100");
  ASSERT_TRUE(Ticking()) << ErrorsOf(pid);
  const std::vector<pid_t> trial = TrialProcesses();
  ASSERT_THAT(trial, SizeIs(1));
  ASSERT_EQ(kill(trial[0], SIGSTOP), 0);
  sleep(kStopped_s);
  kill(trial[0], SIGCONT);
  const Finished run = Wait(pid);
  EXPECT_EQ(run.exit, 0) << run.err;
  const double wall_s = Result("walk").value("wall_s", 0.0);
  EXPECT_GT(wall_s, 1.5);
  EXPECT_LT(wall_s, kStopped_s + 1.5) << "it was stopped for " << kStopped_s << " s, and at work for about 2";
}

}  // namespace
}  // namespace backplane::end_to_end
