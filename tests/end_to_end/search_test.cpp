// Searches: suggestions, pruning, reports to Optuna, resuming. Trials by command take only milliseconds.
#include <gmock/gmock.h>
#include <signal.h>

#include <cstdlib>
#include <fstream>
#include <set>

#include "batch.hpp"

namespace backplane::end_to_end {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSubsetOf;
using testing::Not;

const std::string kPython = BACKPLANE_SOURCE_DIR "/.venv/bin/python";

class Search : public BatchTest {
 protected:
  void SetUp() override {
    if (std::system((kPython + " -c 'import optuna' 2> /dev/null").c_str()) == 0) return;
    const char* const ci = std::getenv("CI");
    if (ci != nullptr && std::string(ci) == "true") FAIL() << "no Optuna in .venv: scripts/bootstrap --with search";
    GTEST_SKIP() << "no Optuna in .venv: scripts/bootstrap --with search";
  }

  // Each prints three scores; the last is the highest of its x, y and kind.
  void WriteQuick(const std::string& more, const std::string& space = "") {
    Write("quick.py",
          "import sys\n"
          "x, y, kind = float(sys.argv[1]), int(sys.argv[2]), sys.argv[3]\n"
          "for i in (1, 2, 3): print(f'score={-((x - 2) ** 2) - abs(y - 20) / 20 - (kind != \"b\") - 3 + i}', flush=True)\n");
    const std::string all =
        "learner.options.x: {uniform: [-5, 5]}, learner.options.y: {log_int: [1, 100]}, "
        "learner.options.kind: {choice: [a, b, c]}";
    Write("quick.yaml", R"yaml(
learner:
  command: [python3, quick.py, "{x}", "{y}", "{kind}"]
  options: {x: 0.0, y: 1, kind: a}
  metrics: {score: "score=([-0-9.e]+)"}
sweep:
  search:
    seed: 3
    objective: {metric: score, direction: maximize}
    space: {)yaml" + (space.empty() ? all : space) +
                            "}\n" + more);
  }

  std::vector<json> Messages(const std::string& experiment, const std::string& op) const {
    std::vector<json> found;
    for (const json& event : Events(experiment))
      if (event.is_object() && event["kind"] == "search.message" && event["request"]["op"] == op) found.push_back(event);
    return found;
  }
  std::vector<json> Suggested(const std::string& experiment) const {
    std::vector<json> params;
    for (const json& message : Messages(experiment, "ask")) params.push_back(message["reply"]["params"]);
    return params;
  }
  std::vector<std::string> Told(const std::string& experiment) const {
    std::vector<std::string> states;
    for (const json& message : Messages(experiment, "tell")) states.push_back(message["request"]["state"]);
    return states;
  }
  std::vector<json> Trials(const std::string& experiment) const {
    std::vector<json> lines = Lines(Out(experiment) / "plan.jsonl");
    std::erase_if(lines, [](const json& line) { return line.contains("dropped"); });
    return lines;
  }
  std::string ByOptuna(const std::string& experiment) const {
    const std::string said = (dir_ / "oracle.txt").string();
    const std::string command = kPython + " " BACKPLANE_SOURCE_DIR "/tests/end_to_end/optuna_oracle.py " +
                                (dir_ / Out(experiment)).string() + " > " + said + " 2>&1";
    return std::system(command.c_str()) == 0 ? "" : ReadFile(said);
  }
};

TEST_F(Search, ItsSuggestionsAndDecisionsAreOptunas) {
  WriteQuick("    trials: 14\n    pruner: {type: median, startup_trials: 3}\n");
  const Finished run = Run("run quick.yaml --jobs 2");
  ASSERT_EQ(run.exit, 0) << run.err << run.out;
  EXPECT_THAT(run.out, AllOf(HasSubstr("search: "), HasSubstr("best score"), HasSubstr("learner.options.x")));
  EXPECT_THAT(run.err, HasSubstr("best so far: score ")) << "while it runs";
  EXPECT_LT(run.out.find("learner.options.y:"), run.out.find("learner.options.kind:")) << "as in the file";
  EXPECT_EQ(Suggested("quick").size(), 14u);
  EXPECT_EQ(ByOptuna("quick"), "");
  EXPECT_THAT(Told("quick"), testing::Contains("pruned"));
  const Finished csv = Run("export csv " + Out("quick").string());
  EXPECT_EQ(csv.exit, 0) << csv.err;
  // No trial is left to run, and Optuna gets no request.
  const size_t events = Messages("quick", "ask").size();
  EXPECT_EQ(Run("run quick.yaml --jobs 2").exit, 0);
  EXPECT_EQ(Messages("quick", "ask").size(), events);
  // More of the same search.
  ASSERT_EQ(Run("run quick.yaml --jobs 2 --set sweep.search.trials=16").exit, 0);
  EXPECT_EQ(Suggested("quick").size(), 16u);
  EXPECT_EQ(ByOptuna("quick"), "");
}

TEST_F(Search, ThatIsKilledResumesAsIfUninterrupted) {
  WriteQuick("    trials: 8\n    pruner: {type: median, startup_trials: 3}\n");
  ASSERT_EQ(Run("run quick.yaml --jobs 1 --out outputs/whole").exit, 0);
  const pid_t first = Start("run quick.yaml --jobs 1");
  ASSERT_TRUE(Until([&] { return Messages("quick", "ask").size() >= 4; })) << ErrorsOf(first);
  kill(first, SIGKILL);
  Wait(first);
  const Finished second = Run("run quick.yaml --jobs 1");
  ASSERT_EQ(second.exit, 0) << second.err << second.out;
  EXPECT_EQ(Suggested("quick"), Suggested("whole"));
  EXPECT_EQ(Told("quick"), Told("whole"));
}

TEST_F(Search, ReusesExistingPointsAndConfirmsTheBest) {
  WriteQuick("    trials: 9\n    confirm: {top: 2, seeds: 3}\n  where: [\"learner.options.kind != 'a'\"]\n",
             "learner.options.kind: {choice: [a, b, c]}");
  const Finished run = Run("run quick.yaml --jobs 1");
  ASSERT_EQ(run.exit, 0) << run.err << run.out;
  std::set<uint64_t> searched, fresh;
  for (const json& trial : Trials("quick"))
    (trial.contains("confirms") ? fresh : searched).insert(trial["seed"].get<uint64_t>());
  EXPECT_EQ(Trials("quick").size(), 2u + 2 * 3) << "`where` removes one of three kinds";
  EXPECT_EQ(fresh.size(), 3u);
  for (const uint64_t seed : searched) EXPECT_FALSE(fresh.contains(seed)) << seed;
  const std::vector<std::string> told = Told("quick");
  EXPECT_EQ(std::count(told.begin(), told.end(), "complete"), 9);
  EXPECT_EQ(Suggested("quick").size(), told.size());
  EXPECT_THAT(run.out, AllOf(HasSubstr("confirmed: "), HasSubstr("the mean of 3 fresh seeds"), HasSubstr("kind: \"b\"")));
}

TEST_F(Search, ThatFindsNoPointNamesTheRuleAndACureForIt) {
  WriteQuick("    trials: 9\n  where: [\"learner.options.x == 0\"]\n");
  EXPECT_THAT(
      Run("run quick.yaml --jobs 1").err,
      AllOf(HasSubstr("100 suggestions in a row were dropped; reason for the last one: where #1"), HasSubstr("`derive`")));
  WriteQuick("    trials: 9\n  derive: {budget.iterations: learner.options.x + 1}\n", "learner.options.x: {uniform: [-5, 5]}");
  EXPECT_THAT(Run("run quick.yaml --jobs 1 --fresh").err,
              AllOf(HasSubstr("reason for the last one: derive budget.iterations: "), Not(HasSubstr("`derive`"))));
}

TEST_F(Search, StopsWeakTrialsWhichCanResumeLater) {
  Write("slow.py",
        "import sys, time\n"
        "for i in range(60):\n"
        "    print(f'score={-float(sys.argv[1])}', flush=True)\n"
        "    time.sleep(0.03)\n");
  // The first draw of this seed is far from the worst, so a later trial is pruned at its first report.
  Write("slow.yaml", R"yaml(
learner: {command: [python3, slow.py, "{x}"], options: {x: 1.0}, metrics: {score: "score=([-0-9.e]+)"}}
budget: {iterations: 30}
sweep:
  search:
    {trials: 4, method: random, seed: 1, pruner: {type: median, startup_trials: 1}, space: {learner.options.x: {uniform: [0, 1]}},
     objective: {metric: score, direction: maximize}}
)yaml");
  const Finished run = Run("run slow.yaml");
  ASSERT_EQ(run.exit, 0) << run.err << run.out;
  std::set<std::string> stopped;
  for (const json& event : Events("slow"))
    if (event["kind"] == "attempt.end" && event["state"] == "PRUNED") stopped.insert(event["trial_id"]);
  ASSERT_FALSE(stopped.empty()) << run.out;
  for (const std::string& id : stopped)
    EXPECT_LT(Lines(Out("slow") / "trials" / id / "attempt-1/metrics.jsonl").size(), 30u) << "it was not pruned";
  const size_t messages = Messages("slow", "tell").size() + Messages("slow", "report").size();
  const Finished later = Run("run slow.yaml --only-pruned");
  ASSERT_EQ(later.exit, 0) << later.err << later.out;
  for (const std::string& id : stopped)
    EXPECT_EQ(json::parse(ReadFile(Out("slow") / "trials" / id / "attempt-2/result.json"))["state"], "COMPLETED");
  EXPECT_EQ(Messages("slow", "tell").size() + Messages("slow", "report").size(), messages) << "Optuna got a request";
}

TEST_F(Search, RejectsAChangedStudyUntilItsHistoryIsAdopted) {
  WriteQuick("    trials: 4\n");
  ASSERT_EQ(Run("run quick.yaml").exit, 0);
  const Finished changed = Run("run quick.yaml --set sweep.search.seed=4");
  EXPECT_EQ(changed.exit, 2);
  EXPECT_THAT(changed.err, AllOf(HasSubstr("seed was 3, is 4"), HasSubstr("--fresh")));
  // Replaces an answer in the record, as a different version of Optuna would give it.
  std::string events = ReadFile(Out("quick") / "events.jsonl");
  const std::string x = Suggested("quick").back()["learner.options.x"].dump();
  for (size_t at = events.find(x); at != std::string::npos; at = events.find(x, at + 1)) events.replace(at, x.size(), "1.25");
  std::ofstream(Out("quick") / "events.jsonl") << events;
  const Finished differs = Run("run quick.yaml --set sweep.search.trials=6");
  EXPECT_EQ(differs.exit, 1);
  EXPECT_THAT(differs.err, AllOf(HasSubstr("now answers"), HasSubstr("--adopt-history")));
  EXPECT_EQ(Suggested("quick").size(), 4u);
  const Finished adopted = Run("run quick.yaml --set sweep.search.trials=6 --adopt-history");
  ASSERT_EQ(adopted.exit, 0) << adopted.err << adopted.out;
  EXPECT_EQ(Suggested("quick").size(), 6u);
  // A later session starts from the adopted history.
  const Finished later = Run("run quick.yaml --set sweep.search.trials=7");
  ASSERT_EQ(later.exit, 0) << later.err << later.out;
  EXPECT_EQ(Suggested("quick").size(), 7u);
}

TEST_F(Search, WithoutOptunaNothingStartsAndTheCommandIsNamed) {
  WriteQuick("    trials: 4\n");
  Write("no_optuna", "#!/bin/sh\nexec " + kPython + " -S \"$@\"\n");
  std::filesystem::permissions(dir_ / "no_optuna", std::filesystem::perms::owner_all);
  setenv("BACKPLANE_PYTHON", (dir_ / "no_optuna").c_str(), 1);
  const Finished run = Run("run quick.yaml"), dry = Run("run quick.yaml --dry-run"), doctor = Run("doctor");
  unsetenv("BACKPLANE_PYTHON");
  EXPECT_EQ(dry.exit, 0);
  EXPECT_THAT(dry.err, AllOf(HasSubstr("(no optuna)"), HasSubstr("-m pip install optuna cmaes scipy`")));
  EXPECT_THAT(doctor.out, HasSubstr("-> sweep.search needs Optuna"));
  EXPECT_EQ(run.exit, 2);
  EXPECT_THAT(run.err,
              AllOf(HasSubstr("-m pip install optuna"), Not(HasSubstr("bootstrap")), HasSubstr("nothing was started")));
  EXPECT_TRUE(Events("quick").empty());
  EXPECT_TRUE(std::filesystem::is_empty(Out("quick") / "trials"));
}

TEST_F(Search, ADryRunReportsTheNumberOfTrialsToCome) {
  WriteQuick("    trials: 40\n    confirm: {top: 3, seeds: 5}\n");
  const Finished dry = Run("run quick.yaml --dry-run");
  ASSERT_EQ(dry.exit, 0) << dry.err;
  EXPECT_THAT(dry.err, Not(HasSubstr("Optuna"))) << "Optuna is installed";
  EXPECT_THAT(dry.out, AllOf(HasSubstr("search with tpe for the best score: 40 trials"), HasSubstr("55 to come"),
                             HasSubstr("then 15 that repeat the best 3 with fresh seeds"), HasSubstr("nothing was started")));
  const Finished check = Run("config check quick.yaml");
  EXPECT_EQ(check.exit, 0) << check.err;
  EXPECT_THAT(check.out, HasSubstr("a search: 40 trials by tpe over 3 paths"));
  WriteQuick("    trials: 4\n", "learner.options.x: {uniform: [0, 1]}, learner.options.z: {int: [1, 2]}");
  EXPECT_EQ(Run("config check quick.yaml").exit, 2);
}

TEST_F(Search, RejectsAnObjectiveThatPluginsDoNotRecord) {
  const auto search = [this](const std::string& metric) {
    Write("cart.yaml",
          "env: cartpole\nlearner: random\nbudget: {iterations: 1}\nevaluation: {episodes: 1}\nsweep:\n  search: {trials: 2, "
          "method: random, space: {rollout.num_env_runners: {int: [1, 3]}},\n    objective: {metric: " +
              metric + ", direction: maximize}}\n");
  };
  for (const char* dry : {"", " --dry-run"}) {
    search("eval/retrun");
    const Finished near = Run(std::string("run cart.yaml") + dry);
    EXPECT_EQ(near.exit, 2) << near.out;
    EXPECT_THAT(near.err, AllOf(HasSubstr("cart.yaml:7:25: error: sweep.search.objective.metric: expected a metric that trials "
                                          "record, got 'eval/retrun'; did you mean 'eval/return'?"),
                                HasSubstr("nothing was started")));
    search("foobar");
    const Finished far = Run(std::string("run cart.yaml") + dry);
    EXPECT_EQ(far.exit, 2) << far.out;
    EXPECT_THAT(far.err, AllOf(HasSubstr("got 'foobar' (the plugins record "), HasSubstr("eval/return")));
  }
}

// Python treats 0, 0.0 and False as equal.
TEST_F(Search, SuggestsEachOfChoicesThatAreEqualInPython) {
  Write("echo.yaml",
        "learner: {command: [echo, \"score=1 {x}\"], options: {x: 0}, metrics: {score: \"score=([0-9]+)\"}}\nsweep:\n  search: "
        "{method: random, seed: 1, trials: 9, objective: {metric: score, direction: maximize},\n    space: {learner.options.x: "
        "{choice: [0, false, 0.0]}}}\n");
  const Finished run = Run("run echo.yaml");
  ASSERT_EQ(run.exit, 0) << run.err;
  std::set<std::string> values;
  for (const json& line : Trials("echo")) values.insert(line["values"]["learner.options.x"].dump());
  EXPECT_THAT(values, testing::UnorderedElementsAre("0", "false", "0.0"));
}

}  // namespace
}  // namespace backplane::end_to_end
