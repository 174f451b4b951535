// Searches with a side process that hangs, dies or gives unusable replies. The batch pauses with a reason and can be resumed.
// The side process is a program of the test, so no Optuna is needed.
#include <gmock/gmock.h>
#include <signal.h>

#include <cstdlib>

#include "batch.hpp"

namespace backplane::end_to_end {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// Suggests 0.1, 0.2, ... and runs the file `fault` before the third reply. FAULT_OP and FAULT_AT select a different reply.
constexpr char kSide[] = R"py(#!/usr/bin/env python3
import json, os, signal, sys, time
here = os.path.dirname(os.path.abspath(__file__))
if len(sys.argv) < 4: sys.exit()
requests, replies = os.fdopen(int(sys.argv[2])), os.fdopen(int(sys.argv[3]), "w")
def say(reply): replies.write((reply if isinstance(reply, str) else json.dumps(reply)) + "\n"), replies.flush()
fault, number = open(here + "/fault").read(), 0
for line in requests:
    op = json.loads(line)["op"]
    if op == "open": number = 0
    reply = {"open": {"version": "0"}, "report": {"prune": False}}.get(op, {})
    if op == "ask":
        reply = {"number": number, "params": {"learner.options.x": (number + 1) / 10}}
        number += 1
    if op == os.environ.get("FAULT_OP", "ask") and (op != "ask" or number == int(os.environ.get("FAULT_AT", 3))): exec(fault)
    say(reply)
)py";

class SearchFaults : public BatchTest {
 protected:
  SearchFaults() {
    std::filesystem::permissions(Write("side", kSide), std::filesystem::perms::owner_all);
    setenv("BACKPLANE_PYTHON", (dir_ / "side").c_str(), 1);
    Write("trial.py", "import sys, time\ntime.sleep(float(sys.argv[2]))\nprint(f'score={sys.argv[1]}', flush=True)\n");
    WriteExperiment("hang_timeout: 2s");
  }
  ~SearchFaults() override {
    unsetenv("BACKPLANE_PYTHON");
    unsetenv("FAULT_OP");
    unsetenv("FAULT_AT");
  }

  void WriteExperiment(const std::string& resources, const std::string& seconds = "0", const std::string& more = "",
                       const std::string& metric = "score") {
    Write("quick.yaml", "learner:\n  command: [python3, trial.py, \"{x}\", \"" + seconds +
                            "\"]\n  options: {x: 0.0}\n  metrics: {score: \"score=([-0-9.e]+)\"}\nresources: {" + resources +
                            "}\noutput: {page: false}\nsweep:\n  search: {trials: 5, objective: {metric: " + metric +
                            ", direction: maximize}, space: {learner.options.x: {uniform: [0, 1]}}" + more + "}\n");
  }
  void Fault(const std::string& python) { Write("fault", python); }
  std::vector<double> Suggested() const {
    std::vector<double> values;
    for (const json& event : Events("quick"))
      if (event["kind"] == "search.message" && event["request"]["op"] == "ask")
        values.push_back(event["reply"]["params"]["learner.options.x"]);
    return values;
  }
  std::vector<pid_t> SideProcesses() const { return Processes({(dir_ / "side").string()}); }
  bool Hangs() const {
    return Until([this] { return Suggested().size() == 2 && SideProcesses().size() == 1 && TrialProcesses().empty(); });
  }
};

TEST_F(SearchFaults, PausesIfSideProcessHangsAndResumes) {
  for (const char* fault : {"time.sleep(600)", "os.kill(os.getpid(), signal.SIGSTOP)"}) {
    Fault(fault);
    const Finished run = Run("run quick.yaml --jobs 1 --fresh");
    EXPECT_EQ(run.exit, 3) << run.err;
    EXPECT_THAT(run.err, AllOf(HasSubstr("paused: sweep.search: the process of Optuna"),
                               HasSubstr("did not answer 'ask' within 2 s (resources.hang_timeout)")));
    EXPECT_THAT(Suggested(), testing::ElementsAre(0.1, 0.2));
    EXPECT_THAT(SideProcesses(), IsEmpty());
    Fault("pass");
    const Finished resumed = Run("run quick.yaml --jobs 1");
    EXPECT_EQ(resumed.exit, 0) << resumed.err;
    EXPECT_THAT(Suggested(), testing::ElementsAre(0.1, 0.2, 0.3, 0.4, 0.5)) << "the result equals an uninterrupted search";
  }
}

TEST_F(SearchFaults, StopsImmediatelyWhileSideProcessHangs) {
  WriteExperiment("hang_timeout: 3600s");
  Fault("time.sleep(600)");
  for (const int signal : {SIGINT, SIGTERM}) {
    const pid_t pid = Start("run quick.yaml --jobs 1 --fresh");
    ASSERT_TRUE(Hangs()) << ErrorsOf(pid);
    kill(pid, signal);
    const Finished run = Wait(pid);
    EXPECT_EQ(run.exit, 130) << run.err;
    EXPECT_THAT(SideProcesses(), IsEmpty());
  }
  const pid_t pid = Start("run quick.yaml --jobs 1 --fresh");
  ASSERT_TRUE(Hangs()) << ErrorsOf(pid);
  EXPECT_EQ(Run("stop " + Out("quick").string()).exit, 0);
  EXPECT_EQ(Wait(pid).exit, 130);
  EXPECT_THAT(SideProcesses(), IsEmpty());
}

TEST_F(SearchFaults, StopsImmediatelyWhileSideProcessStarts) {
  setenv("FAULT_OP", "open", 1);
  Fault("time.sleep(600)");
  const pid_t pid = Start("run quick.yaml");
  ASSERT_TRUE(Until([this] { return SideProcesses().size() == 1; })) << ErrorsOf(pid);
  kill(pid, SIGINT);
  const Finished run = Wait(pid);
  EXPECT_EQ(run.exit, 130) << run.err;
  EXPECT_THAT(run.err, testing::ContainsRegex("stopped before any trial started|no trial was started"));
  EXPECT_THAT(SideProcesses(), IsEmpty());
}

// The watchdog, here its wall time, checks the first trial while the second suggestion is pending.
TEST_F(SearchFaults, WatchesTrialsWhileSideProcessHangs) {
  WriteExperiment("hang_timeout: 3600s, wall_time: 1s, cpus: 1", "600");
  Fault("time.sleep(600)");
  setenv("FAULT_AT", "2", 1);
  const pid_t pid = Start("run quick.yaml --jobs 2");
  ASSERT_TRUE(Until([this] { return Suggested().size() == 1 && !TrialProcesses().empty(); })) << ErrorsOf(pid);
  EXPECT_TRUE(Until([this] { return TrialProcesses().empty(); })) << "it has used up its time";
  EXPECT_THAT(SideProcesses(), SizeIs(1));
  kill(pid, SIGINT);
  EXPECT_EQ(Wait(pid).exit, 130);
  for (const auto& [x, trial] : States("quick", "learner.options.x")) EXPECT_EQ(trial.outcome, "timeout") << x;
}

TEST_F(SearchFaults, PausesAtAnUnusableReplyAndResumes) {
  const std::pair<const char*, const char*> faults[] = {
      {"reply['params']['learner.options.x'] = 7", "expected a value of learner.options.x from {\"uniform\":[0.0,1.0]}, got 7"},
      {"reply['params']['learner.options.x'] = 'a'", "got \"a\""},
      {"reply['params'] = {}", "it suggests no value for learner.options.x"},
      {"reply['params'] = {'seed': 3}", "it suggests a value for seed, which is not in sweep.search.space"},
      {"del reply['params']", "expected an object as \"params\", got null"},
      {"reply['number'] = 1", "expected an unused number as \"number\", got 1"},
      {"reply['number'] = '2'", "expected a number from 0 on as \"number\", got \"2\""},
      {"del reply['number']", "expected a number from 0 on as \"number\", got none"},
      {"reply = 'no json'", "expected a JSON object as the reply to 'ask', got no json"},
      {"reply = '[]'", "expected a JSON object as the reply to 'ask', got []"},
      {"reply = 'x' * (20 << 20)", "its reply to 'ask' is longer than 16 MiB"},
      {"sys.exit('it fell')", "has ended; its last line: it fell"},
      {"reply = {'error': 'ValueError'}", "Optuna rejects 'ask': ValueError"}};
  for (const auto& [fault, words] : faults) {
    SCOPED_TRACE(fault);
    Fault(fault);
    const Finished run = Run("run quick.yaml --jobs 1 --fresh");
    EXPECT_EQ(run.exit, 3) << run.err;
    EXPECT_THAT(run.err, AllOf(HasSubstr("paused: sweep.search: "), HasSubstr(words), Not(HasSubstr("json.exception"))));
    EXPECT_THAT(Suggested(), SizeIs(2)) << "the record has no unusable reply";
    EXPECT_THAT(SideProcesses(), IsEmpty());
  }
  Fault("pass");
  const Finished resumed = Run("run quick.yaml --jobs 1");
  EXPECT_EQ(resumed.exit, 0) << resumed.err;
  EXPECT_THAT(Suggested(), testing::ElementsAre(0.1, 0.2, 0.3, 0.4, 0.5));
}

TEST_F(SearchFaults, PausesIfSideProcessHangsAtAReport) {
  setenv("FAULT_OP", "tell", 1);
  Fault("time.sleep(600)");
  const Finished run = Run("run quick.yaml --jobs 1");
  EXPECT_EQ(run.exit, 3) << run.err;
  EXPECT_THAT(run.err, HasSubstr("did not answer 'tell' within 2 s (resources.hang_timeout)"));
  Fault("pass");
  EXPECT_EQ(Run("run quick.yaml --jobs 1").exit, 0);
  EXPECT_THAT(Suggested(), testing::ElementsAre(0.1, 0.2, 0.3, 0.4, 0.5));
}

TEST_F(SearchFaults, StopsIfATrialEndsWithoutTheObjective) {
  Fault("pass");
  WriteExperiment("hang_timeout: 2s", "0", "", "scores");
  for (const char* quiet : {"", " --quiet"}) {
    const Finished run = Run(std::string("run quick.yaml --jobs 1 --fresh") + quiet);
    EXPECT_EQ(run.exit, 1) << run.err;
    EXPECT_THAT(run.err, AllOf(HasSubstr("quick.yaml:8:43: error: sweep.search.objective.metric: expected a metric that trials "
                                         "record, got 'scores'; did you mean 'score'? (trial "),
                               HasSubstr("hint: correct the metric, then run `"), HasSubstr(" --fresh`")));
    EXPECT_THAT(run.err + run.out, AllOf(Not(HasSubstr("same command")), Not(HasSubstr("resume:"))));
    EXPECT_THAT(Suggested(), SizeIs(1)) << "no further trial";
  }
  const Finished again = Run("run quick.yaml --jobs 1");
  EXPECT_EQ(again.exit, 2) << again.err;
  EXPECT_THAT(again.err, AllOf(HasSubstr("did you mean 'score'"), HasSubstr("nothing was started")));
  WriteExperiment("hang_timeout: 2s");
  EXPECT_EQ(Run("run quick.yaml --jobs 1 --fresh").exit, 0);
}

TEST_F(SearchFaults, ConfirmsATrialThatWasPrunedTooLateToStopIt) {
  setenv("FAULT_OP", "report", 1);
  Fault("reply['prune'] = True");
  WriteExperiment("hang_timeout: 2s", "0", ", pruner: median, confirm: {top: 1, seeds: 2}");
  const Finished run = Run("run quick.yaml --jobs 1");
  EXPECT_EQ(run.exit, 0) << run.err;
  const auto confirmed = [this] {
    std::vector<json> values;
    for (const json& line : Lines(Out("quick") / "plan.jsonl"))
      if (line.contains("confirms")) values.push_back(line["values"]["learner.options.x"]);
    return values;
  };
  EXPECT_THAT(confirmed(), testing::ElementsAre(0.5, 0.5)) << run.out;
  EXPECT_THAT(run.out, HasSubstr("the mean of 2 fresh seeds, number 4"));
  EXPECT_EQ(Run("run quick.yaml --jobs 1").exit, 0);
  EXPECT_THAT(confirmed(), testing::ElementsAre(0.5, 0.5)) << "a later session knows it from the record";
}

}  // namespace
}  // namespace backplane::end_to_end
