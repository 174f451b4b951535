// `compare`: the better arm, look after look.
#include <gmock/gmock.h>
#include <signal.h>

#include "batch.hpp"

namespace backplane::end_to_end {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

// A random search that learns, and uniform actions, whose return stays the same.
constexpr char kLearns[] = R"(experiment: learns
env: {plugin: cartpole}
learner: {plugin: ars, options: {num_dirs: 2, noise_std: 0.05}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 4}
budget: {iterations: 12}
evaluation: {episodes: 10}
monitors: []
)";
const std::string kStays = "  arms: [{name: learns}, {name: stays, learner: {plugin: random}}]\n";
// Different scores with equal means.
const std::string kSame = "  arms: [{name: this}, {name: that, learner.options.noise_std: 0.052}]\n";
const std::string kIdentical = "  arms: [{name: this}, {name: that, learner.options.noise_std: 0.0500001}]\n";

// The same with a learner that learns nothing.
std::string Uniform() {
  std::string text = kLearns;
  const size_t line = text.find("learner: ");
  return text.replace(line, text.find('\n', line) - line, "learner: random");
}

class CompareCommand : public BatchTest {
 protected:
  size_t Trials(const std::string& experiment) const {
    size_t trials = 0;
    for (const nlohmann::json& line : Lines(Out(experiment) / "plan.jsonl")) trials += line.contains("trial_id") ? 1 : 0;
    return trials;
  }
  size_t Starts(const std::string& experiment) const {
    size_t starts = 0;
    for (const nlohmann::json& event : Events(experiment)) starts += event.value("kind", "") == "attempt.start" ? 1 : 0;
    return starts;
  }
};

TEST_F(CompareCommand, StopsAtTheFirstConclusiveLook) {
  Write("learns.yaml", kLearns + ("compare:\n" + kStays));
  const Finished compare = Run("compare learns.yaml");
  ASSERT_EQ(compare.exit, 0) << compare.err << compare.out;
  EXPECT_THAT(compare.out, AllOf(StartsWith("learns is better than stays: its "), HasSubstr("(± 95 %; 5"),
                                 HasSubstr("The comparison stopped at look 1 of 5, because the answer was known")));
  EXPECT_EQ(Trials("learns"), 10u);
  const std::string page = ReadFile(Out("learns") / "report/ab_report.html");
  EXPECT_THAT(page, AllOf(HasSubstr("Evidence"), HasSubstr("learner.<wbr>plugin"), HasSubstr("compare")));
  // No trial is left to run, and the file is still no batch.
  const Finished again = Run("compare learns.yaml --quiet");
  EXPECT_EQ(again.exit, 0) << again.err;
  EXPECT_THAT(again.out, StartsWith("learns is better than stays: its "));
  EXPECT_EQ(Starts("learns"), 10u);
  const Finished run = Run("run learns.yaml");
  EXPECT_EQ(run.exit, 2);
  EXPECT_THAT(run.err, HasSubstr("compare learns.yaml\n"));
}

TEST_F(CompareCommand, EqualArmsNeedAllLooksAndStayInconclusive) {
  Write("learns.yaml", kLearns + ("compare:\n" + kSame + "  looks: {max: 2}\n"));
  const Finished compare = Run("compare learns.yaml");
  ASSERT_EQ(compare.exit, 0) << compare.err << compare.out;
  EXPECT_THAT(compare.out, AllOf(HasSubstr("look 1 of 2: "), HasSubstr("not decided"), HasSubstr("Inconclusive: this and that"),
                                 HasSubstr("The comparison stopped at look 2 of 2, the last one")));
  EXPECT_EQ(Trials("learns"), 20u);
}

TEST_F(CompareCommand, StopsAtTheFirstLookOfIdenticalArms) {
  Write("learns.yaml", kLearns + ("compare:\n" + kIdentical + "  looks: {max: 2}\n"));
  const Finished compare = Run("compare learns.yaml");
  ASSERT_EQ(compare.exit, 0) << compare.err << compare.out;
  EXPECT_THAT(compare.out, HasSubstr("this and that are identical, to the last bit: each of 5 seeds"));
  EXPECT_EQ(Trials("learns"), 10u);
}

TEST_F(CompareCommand, AKillInTheMiddleOfALookLosesNoTrial) {
  const std::string lines = kLearns + ("compare:\n" + kSame + "  looks: {max: 2}\n");
  Write("calm.yaml", lines);
  Write("killed.yaml", lines);
  const Finished calm = Run("compare calm.yaml --set experiment=calm");
  ASSERT_EQ(calm.exit, 0) << calm.err;
  const std::string killed = "compare killed.yaml --set experiment=killed";
  const pid_t pid = Start(killed);
  ASSERT_TRUE(Until([&] { return Starts("killed") >= 13; })) << ErrorsOf(pid);
  kill(pid, SIGKILL);
  Wait(pid);
  EXPECT_EQ(Trials("killed"), 20u) << "it was already in the second look";
  const Finished again = Run(killed);
  ASSERT_EQ(again.exit, 0) << again.err;
  EXPECT_EQ(again.out.substr(0, again.out.find("\n\n")), [&] {
    std::string text = calm.out.substr(calm.out.find("Inconclusive"));
    const size_t name = text.find("calm");
    if (name != std::string::npos) text.replace(name, 4, "killed");
    return text.substr(0, text.find("\n\n"));
  }());
}

TEST_F(CompareCommand, PassesCtrlCToItsRunOnce) {
  Write("learns.yaml", kLearns + ("compare:\n" + kSame + "  looks: {max: 2}\n"));
  const pid_t pid = StartCommand("exec setsid " BACKPLANE_BINARY_DIR "/bin/backplane compare learns.yaml");
  ASSERT_TRUE(Until([&] { return Starts("learns") >= 3; })) << ErrorsOf(pid);
  kill(-pid, SIGINT);  // to the whole group, as the terminal does
  const Finished stopped = Wait(pid);
  EXPECT_EQ(stopped.exit, 130) << stopped.err;
  EXPECT_THAT(stopped.out, AllOf(HasSubstr("interrupted\n  resume: "), HasSubstr("backplane compare learns.yaml\n")));
  EXPECT_THAT(stopped.err, testing::Not(HasSubstr("ended immediately"))) << "it belongs to the second look";
  EXPECT_EQ(Events("learns").back()["kind"], "session.end");
}

TEST_F(CompareCommand, ResumesLookThatRanAsAPlan) {
  Write("learns.yaml", kLearns + ("compare:\n" + kSame + "  looks: {max: 2}\n"));
  const nlohmann::json plan = {{"schema_version", 1},
                               {"file", "learns.yaml"},
                               {"set", nlohmann::json::array()},
                               {"preset", ""},
                               {"plugin_path", nlohmann::json::array()},
                               {"seeds", nlohmann::json::array()},
                               {"looks", 1},
                               {"out", "outputs/learns"},
                               {"typed_out", ""},
                               {"only_by_same", false},
                               {"end", nullptr}};
  Write("plan.json", plan.dump());
  const Finished run = Run("run --plan plan.json --same 'backplane compare learns.yaml'");
  ASSERT_EQ(run.exit, 0) << run.err;
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(Trials("learns"), 10u);
  EXPECT_EQ(Starts("learns"), 10u);
  const Finished compare = Run("compare learns.yaml");
  ASSERT_EQ(compare.exit, 0) << compare.err;
  EXPECT_EQ(Trials("learns"), 20u);
  EXPECT_EQ(Starts("learns"), 20u) << "the first look does not run again";
  Write("plan.json", "{}");
  const Finished broken = Run("run --plan plan.json");
  EXPECT_EQ(broken.exit, 1);
  EXPECT_THAT(broken.err, HasSubstr("plan.json is no plan: "));
  EXPECT_THAT(Run("run --help").out, testing::Not(HasSubstr("--plan ")));
}

TEST_F(CompareCommand, RejectsThreeSeedsBeforeTheStart) {
  Write("learns.yaml", kLearns + ("compare:\n" + kSame + "  looks: {n: 3, max: 1}\n"));
  const Finished compare = Run("compare learns.yaml");
  EXPECT_EQ(compare.exit, 2);
  EXPECT_THAT(compare.err, AllOf(HasSubstr("3 seeds can never show a difference at 5 %"), HasSubstr("nothing was started")));
  EXPECT_FALSE(std::filesystem::exists(Out("learns")));
}

TEST_F(CompareCommand, ArmsThatDoNothingAreNotRanked) {
  Write("learns.yaml", kLearns + std::string("compare:\n"
                                             "  arms: [{name: one, learner: {plugin: random}},"
                                             " {name: two, learner: {plugin: random, options: {horizon: 33}}}]\n"
                                             "  looks: {max: 1}\n"));
  const Finished compare = Run("compare learns.yaml --quiet");
  EXPECT_EQ(compare.exit, 0) << compare.err;
  EXPECT_THAT(compare.out, StartsWith("Not ranked: neither one nor two"));
}

TEST_F(CompareCommand, TwoFilesAreTwoArms) {
  Write("learns.yaml", kLearns);
  Write("stays.yaml", Uniform());
  const Finished compare = Run("compare learns.yaml stays.yaml --metric eval/return");
  ASSERT_EQ(compare.exit, 0) << compare.err << compare.out;
  EXPECT_THAT(compare.out, StartsWith("learns is better than stays: its "));
  EXPECT_TRUE(std::filesystem::exists(dir_ / "outputs/learns_vs_stays/report/ab_report.html"));
  Write("longer.yaml", "base: learns.yaml\nbudget: {iterations: 13}\n");
  const Finished unequal = Run("compare learns.yaml longer.yaml");
  EXPECT_EQ(unequal.exit, 2);
  EXPECT_THAT(unequal.err, AllOf(HasSubstr("expected equal budgets"), HasSubstr("nothing was started")));
}

TEST_F(CompareCommand, OnSeveralTasksEveryArmIsOnEach) {
  Write("learns.yaml", kLearns + ("compare:\n" + kStays +
                                  "  tasks:\n"
                                  "    - {name: pole, reference: [9, 500]}\n"
                                  "    - {name: brief, reference: [9, 20], env.options.max_episode_steps: 20}\n"
                                  "  looks: {n: 5, max: 1}\n"));
  const Finished dry = Run("compare learns.yaml --dry-run");
  EXPECT_THAT(dry.out, StartsWith("2 arms on 2 tasks, 5 seeds per arm and look: 20 trials in the first look")) << dry.err;
  const Finished compare = Run("compare learns.yaml");
  ASSERT_EQ(compare.exit, 0) << compare.err << compare.out;
  EXPECT_THAT(compare.out, AllOf(StartsWith("learns is better than stays on "), HasSubstr("P(stays improves on learns)"),
                                 HasSubstr("pole: learns is better than stays: its ")));
  const std::string page = ReadFile(Out("learns") / "report/ab_report.html");
  EXPECT_THAT(page,
              AllOf(HasSubstr("Normalised scores"), HasSubstr("Performance profile"), HasSubstr("Probability of improvement")));
  // The same from the folder, whose file has the task of each arm.
  const Finished again = Run("compare outputs/learns --quiet");
  EXPECT_EQ(again.exit, 0) << again.err;
  EXPECT_THAT(again.out, StartsWith("learns is better than stays on "));
  EXPECT_EQ(Starts("learns"), 20u);
}

TEST_F(CompareCommand, ADryRunOfTwoFilesLeavesNothing) {
  Write("learns.yaml", kLearns);
  Write("stays.yaml", Uniform());
  std::filesystem::create_directory(dir_ / "tmp");
  setenv("TMPDIR", (dir_ / "tmp").c_str(), 1);
  const Finished dry = Run("compare learns.yaml stays.yaml --dry-run");
  unsetenv("TMPDIR");
  EXPECT_EQ(dry.exit, 0) << dry.err;
  EXPECT_THAT(dry.out, HasSubstr("2 arms, 5 seeds per arm and look"));
  EXPECT_TRUE(std::filesystem::is_empty(dir_ / "tmp"));
  EXPECT_FALSE(std::filesystem::exists(dir_ / "outputs"));
}

TEST_F(CompareCommand, FinishedRunsAreJudgedOnce) {
  Write("learns.yaml", kLearns + std::string("sweep: {seeds: {n: 5}}\n"));
  Write("stays.yaml", Uniform() + "sweep: {seeds: {n: 5}}\n");
  for (const char* name : {"learns", "stays"})
    ASSERT_EQ(Run(std::string("run ") + name + ".yaml --quiet --set experiment=" + name).exit, 0);
  const Finished compare = Run("compare outputs/learns outputs/stays --out judged");
  EXPECT_EQ(compare.exit, 0) << compare.err << compare.out;
  EXPECT_THAT(compare.out, AllOf(StartsWith("learns is better than stays: its "), HasSubstr("Judged once: at most 5 %")));
  EXPECT_TRUE(std::filesystem::exists(dir_ / "judged/ab_report.html"));
  const Finished few = Run("compare outputs/learns outputs/stays --dry-run");
  EXPECT_EQ(few.exit, 2);
  EXPECT_THAT(few.err, HasSubstr("expected an experiment file with --dry-run"));
  const Finished missing = Run("compare outputs/learns outputs/stays --out judged --metric eval/retrun --direction up");
  EXPECT_EQ(missing.exit, 1);
  EXPECT_THAT(missing.out, HasSubstr("Invalid: 5 of 5 runs of learns have no eval/retrun."));
}

TEST_F(CompareCommand, TheRulesMayNotChangeAfterALook) {
  Write("learns.yaml", kLearns + ("compare:\n" + kSame + "  looks: {max: 1}\n"));
  ASSERT_EQ(Run("compare learns.yaml --quiet").exit, 0);
  const Finished more = Run("compare learns.yaml --set compare.looks.max=2");
  EXPECT_EQ(more.exit, 2);
  EXPECT_THAT(more.err, AllOf(HasSubstr("must not change after a look"), HasSubstr("nothing was started")));
  EXPECT_EQ(Starts("learns"), 10u);
}

TEST_F(CompareCommand, NeedsTheDirectionOfAMetricBeforeTheStart) {
  for (const char* metric : {"2 * return", "ep/length"}) {
    Write("learns.yaml", kLearns + ("compare:\n" + kSame + "  metric: " + metric + "\n  looks: {max: 1}\n"));
    for (const char* dry : {"", " --dry-run"}) {
      const Finished compare = Run(std::string("compare learns.yaml") + dry);
      EXPECT_EQ(compare.exit, 2) << compare.out;
      EXPECT_THAT(compare.err,
                  HasSubstr("expected compare.direction, because the direction of '" + std::string(metric) + "' is unknown"));
      EXPECT_THAT(compare.err, HasSubstr(std::string("\n    metric: ") + metric)) << "the line of the mistake";
    }
  }
  EXPECT_EQ(Starts("learns"), 0u);
  const Finished then = Run("compare learns.yaml --quiet --direction up");
  EXPECT_THAT(then.out, StartsWith("Inconclusive: ")) << then.err;
  // Plugins register the direction of their measures, and the host knows its own.
  for (const char* known : {"train/return_max", "wall_s"}) {
    const Finished dry = Run("compare learns.yaml --out outputs/new --dry-run --metric " + std::string(known));
    EXPECT_EQ(dry.exit, 0) << known << dry.err;
  }
  const Finished malformed = Run("compare learns.yaml --metric 'return *'");
  EXPECT_EQ(malformed.exit, 2);
  EXPECT_THAT(malformed.err, HasSubstr("compare.metric: expected a metric or an expression of metrics, got 'return *'"));
}

TEST_F(CompareCommand, RejectsIdenticalArmsBeforeTheStart) {
  Write("learns.yaml", kLearns + std::string("compare: {arms: [{name: a}, {name: b}]}\n"));
  const Finished compare = Run("compare learns.yaml");
  EXPECT_EQ(compare.exit, 2);
  EXPECT_THAT(compare.err, HasSubstr("expected different arms, got one that is the same as another point (a)"));
}

TEST_F(CompareCommand, ScoresOfTwoEnvsAreInvalid) {
  Write("learns.yaml",
        kLearns + std::string(
                      "compare: {arms: [{name: a}, {name: b, env: {plugin: pendulum}, learner: random}], looks: {max: 1}}\n"));
  const Finished compare = Run("compare learns.yaml --quiet");
  EXPECT_EQ(compare.exit, 1) << compare.err;
  EXPECT_THAT(compare.out, StartsWith("Invalid: The arms have different envs: a has cartpole, b has pendulum."));
}

TEST_F(CompareCommand, AMisspeltMetricIsFoundBeforeTheStart) {
  Write("learns.yaml", kLearns + ("compare:\n" + kSame + "  metric: eval/retrun\n"));
  for (const char* dry : {"", " --dry-run"}) {
    const Finished compare = Run(std::string("compare learns.yaml") + dry);
    EXPECT_EQ(compare.exit, 2) << compare.out;
    EXPECT_THAT(compare.err, HasSubstr("compare.metric: nothing records 'eval/retrun'; did you mean 'eval/return'"));
  }
}

TEST_F(CompareCommand, DryRunReportsTheNumberOfTrials) {
  Write("learns.yaml", kLearns + ("compare:\n" + kSame));
  const Finished dry = Run("compare learns.yaml --dry-run");
  EXPECT_EQ(dry.exit, 0) << dry.err;
  EXPECT_THAT(dry.out, StartsWith("2 arms, 5 seeds per arm and look: 10 trials in the first look, at most 50 in 5 looks\n"));
  EXPECT_FALSE(std::filesystem::exists(Out("learns")));
}

}  // namespace
}  // namespace backplane::end_to_end
