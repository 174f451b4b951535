#include "yaml/errors.hpp"

#include "config_fixture.hpp"
#include "places.hpp"

namespace backplane {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ErrorsTest = ConfigTest;

TEST_F(ErrorsTest, SixMistakesGiveSixErrorsInFileOrder) {
  LoadResult result = Load(BACKPLANE_SOURCE_DIR "/tests/fixtures/config/six_errors.yaml");
  std::vector<std::string> lines;
  for (const Diagnostic& d : result.errors) {
    EXPECT_FALSE(d.source_line.empty());
    lines.push_back(std::to_string(d.line) + ":" + std::to_string(d.column) + " " + d.message);
  }
  EXPECT_THAT(lines, ElementsAre(HasSubstr("2:13 experiment: expected a name of letters"), HasSubstr("3:7 '010'"),
                                 HasSubstr("6:13 env.walker has no option 'legz'; did you mean 'legs'?"),
                                 "10:9 learner.options.lr: expected a number, got '3.O'",
                                 "12:3 unknown key 'num_workers' in rollout; did you mean 'num_env_runners'?",
                                 "13:22 budget.iterations: 0 is out of range [1,)"));
  EXPECT_FALSE(result.loaded);
}

TEST_F(ErrorsTest, AnErrorShowsItsLineAndACaret) {
  Diagnostic d{"a.yaml", 3, 7, "no", "seed: x"};
  EXPECT_EQ(Format(d), "a.yaml:3:7: error: no\n  seed: x\n        ^");
  EXPECT_EQ(Format({"--set", 0, 6, "no", "seed=x"}), "--set: error: no\n  seed=x\n       ^");
  EXPECT_EQ(Format({"a.yaml", 0, 0, "no", ""}), "a.yaml: error: no");
  EXPECT_EQ(Format({"a.yaml", 3, 7, "no", "seed: x", ErrorCode::kOther, "seed: 0"}),
            "a.yaml:3:7: error: no\n  seed: x\n        ^\nhint: seed: 0");
}

// The 34 bytes before the column take 124 columns: more than are shown, but fewer than the limit in bytes.
TEST_F(ErrorsTest, ALineOfFewBytesAndManyColumnsIsShown) {
  const auto times = [](const std::string& part, int n) {
    std::string text;
    while (n-- > 0) text += part;
    return text;
  };
  const std::string line = "a: " + times("\x01", 30) + ":\t1";
  EXPECT_EQ(Format({"a.yaml", 1, 35, "no", line}),
            "a.yaml:1:35: error: no\n  ..." + times("\\x01", 24) + ":\\t1\n  " + std::string(100, ' ') + "^");
  const std::string wide = times("\x01", 50) + ":" + std::string(1000, 'x');
  EXPECT_EQ(Format({"a.yaml", 1, 51, "no", wide}), "a.yaml:1:51: error: no\n  ..." + times("\\x01", 25) + ":" +
                                                       std::string(93, 'x') + "...\n  " + std::string(103, ' ') + "^");
}

// The caret stays below its column, with as much text before it as fits.
TEST_F(ErrorsTest, ALongLineIsCutBeforeItsColumn) {
  const std::string line = std::string(150, 'a') + std::string(50, 'b') + "c" + std::string(300, 'd');
  EXPECT_EQ(Format({"a.yaml", 1, 201, "no", line}), "a.yaml:1:201: error: no\n  ..." + std::string(50, 'b') + "c" +
                                                        std::string(143, 'd') + "...\n" + std::string(55, ' ') + "^");
}

// A sweep reports an error of all its points once: searching the nearest name per point would take seconds.
TEST_F(ErrorsTest, PlaceWithAnErrorNeedsNoSecondHint) {
  const auto file = std::make_shared<Source>();
  const Mark here{file, 1, 5}, there{file, 2, 5};
  Errors all;
  Errors first = Errors::OfOnePoint(&all);
  EXPECT_TRUE(first.WantsHint(here));
  first.Add(here, "unknown key 'sed'; did you mean 'seed'?");
  all.AddNewPlaces(first);
  const Errors second = Errors::OfOnePoint(&all);
  EXPECT_FALSE(second.WantsHint(here));
  EXPECT_TRUE(second.WantsHint(there));
  EXPECT_FALSE(Errors::OfOnePoint(nullptr).WantsHint(there)) << "its errors are not collected";
}

TEST_F(ErrorsTest, UnknownKeysNameTheNearest) {
  EXPECT_THAT(ErrorsOf(kMinimal + "rollout: {num_env_runer: 2}\n"),
              ElementsAre("5:11 unknown key 'num_env_runer' in rollout; did you mean 'num_env_runners'?"));
  EXPECT_THAT(ErrorsOf(kMinimal + "rollot: {threads: 2}\n"), ElementsAre("5:1 unknown key 'rollot'; did you mean 'rollout'?"));
  EXPECT_THAT(ErrorsOf(kMinimal + "num_workers: 2\n"),
              ElementsAre("5:1 unknown key 'num_workers'; did you mean 'rollout.num_env_runners'?"));
  EXPECT_THAT(ErrorsOf(kMinimal + "output: {report: 2}\n"),
              ElementsAre("5:10 unknown key 'report' in output; 'report' belongs at the top level of the file"));
  EXPECT_THAT(ErrorsOf(kMinimal + "lr: 2\n"), ElementsAre("5:1 unknown key 'lr'; did you mean 'learner.options.lr'?"));
  EXPECT_THAT(ErrorsOf(kMinimal + "qqqqqqqq: 2\n"), ElementsAre("5:1 unknown key 'qqqqqqqq'"));
}

TEST_F(ErrorsTest, WrongTypesShowExpectedAndGot) {
  auto error_of = [&](const std::string& line) {
    auto errors = ErrorsOf(kMinimal + line + "\n");
    return errors.size() == 1 ? errors[0] : "not one error";
  };
  EXPECT_EQ(error_of("seed: '5'"), "5:7 seed: expected an integer, got the text '5'");
  EXPECT_EQ(error_of("seed: 4.O"), "5:7 seed: expected an integer, got '4.O'");
  EXPECT_EQ(error_of("seed: 1.5e0"), "5:7 seed: expected an integer, got 1.5e0");
  EXPECT_EQ(error_of("seed: 1e300"), "5:7 seed: expected an integer, got 1e300");
  EXPECT_EQ(error_of("seed: 1_000"), "5:7 seed: expected an integer, got '1_000'");
  EXPECT_EQ(error_of("seed: 0x10"), "5:7 seed: expected an integer, got '0x10'");
  EXPECT_EQ(error_of("seed: [1]"), "5:7 seed: expected an integer, got a list");
  EXPECT_EQ(error_of("seed:"), "5:1 seed: expected an integer, got nothing");
  EXPECT_EQ(error_of("seed: -1"), "5:7 seed: -1 is out of range [0,)");
  EXPECT_EQ(error_of("seed: 99999999999999999999"), "5:7 seed: 99999999999999999999 does not fit into 64 bits");
  EXPECT_EQ(error_of("rollout: 5"), "5:10 rollout: expected a mapping, got 5");
  EXPECT_EQ(error_of("rollout: {threads: many}"), "5:20 rollout.threads: expected an integer or 'auto', got 'many'");
  EXPECT_EQ(error_of("resources: {exclusive: yes}"), "5:24 resources.exclusive: expected true or false or 'auto', got 'yes'");
  for (const auto& [wrong, got] : {std::pair("0%", "'0%'"), {"101%", "'101%'"}, {"95", "95"}})
    EXPECT_EQ(
        error_of(std::string("resources: {device_memory: ") + wrong + "}"),
        std::string("5:28 resources.device_memory: expected a size such as 16GiB, or a percentage up to 100%, got ") + got);
  EXPECT_EQ(error_of("resources: {memory: 16}"), "5:21 resources.memory: expected a size such as 512MiB, 4GB or 16GiB, got 16");
  EXPECT_EQ(error_of("resources: {wall_time: 30}"),
            "5:24 resources.wall_time: expected a duration such as 90s, 30m or 1h30m, got 30");
  EXPECT_EQ(error_of("output: {dir: 5}"), "5:15 output.dir: expected text, got 5");
  EXPECT_EQ(error_of("plugin_path: here"), "5:14 plugin_path: expected a list of paths, got 'here'");
}

TEST_F(ErrorsTest, ABudgetNeedsALimit) {
  std::string head = "experiment: a\nenv: {plugin: walker}\nlearner: {plugin: climber}\n";
  EXPECT_THAT(ErrorsOf(head + "budget: {}\n"), ElementsAre(HasSubstr("4:1 budget: expected at least one limit")));
  EXPECT_THAT(ErrorsOf(head + "budget: {iterations: null}\n"), ElementsAre(HasSubstr("4:1 budget: expected at least one")));
  EXPECT_THAT(ErrorsOf(head + "budget: {iteration: 3}\n"), ElementsAre(HasSubstr("unknown key 'iteration' in budget")))
      << "a misspelt limit is one error";
  EXPECT_THAT(ErrorsOf(head + "bugdet: {iterations: 3}\n"), ElementsAre(HasSubstr("did you mean 'budget'?")));
  EXPECT_THAT(ErrorsOf(head, {"budget.iteratoins=3"}), ElementsAre(HasSubstr("did you mean 'budget.iterations'?")));
  EXPECT_THAT(ErrorsOf("experiment: a\nevn: {plugin: walker}\nlearner: {plugni: climber}\nbudget: {iterations: 3}\n"),
              ElementsAre(HasSubstr("did you mean 'env'"), HasSubstr("did you mean 'plugin'")))
      << "required keys, too";
  EXPECT_THAT(ErrorsOf(head + "sede: 3\n"), ElementsAre(HasSubstr("at least one limit"), HasSubstr("did you mean 'seed'?")));
  Good(head + "budget: {wall_time: 1h30m}\n");
}

TEST_F(ErrorsTest, ABestCheckpointNeedsEvaluationsOfAKnownDirection) {
  const std::string evaluates = kMinimal + "evaluation: {episodes: 3, every_iterations: 5}\n";
  const auto error_of = [&](const std::string& best) { return ErrorsOf(evaluates + "checkpoint: {best: " + best + "}\n"); };
  EXPECT_THAT(
      ErrorsOf(kMinimal + "checkpoint: {best: eval/return}\n"),
      ElementsAre("5:20 checkpoint.best: expected evaluations that choose the best checkpoint, got evaluation.episodes: 0"));
  EXPECT_THAT(error_of("return"),
              ElementsAre("6:20 checkpoint.best: expected a metric of evaluations, eval/NAME, got 'return'"));
  EXPECT_THAT(error_of("eval/loss"),
              ElementsAre(HasSubstr("6:20 checkpoint.best: expected checkpoint.best.direction, because")));
  EXPECT_THAT(error_of("{metric: eval/loss, direction: down}"), ElementsAre(HasSubstr("checkpoint.best.direction: expected")));
  EXPECT_THAT(error_of("{direction: minimize}"), ElementsAre(HasSubstr("expected a metric with the direction, got none")));
  EXPECT_THAT(error_of("{name: eval/return}"), ElementsAre(HasSubstr("unknown key 'name' in checkpoint.best")));
  EXPECT_THAT(ErrorsOf(kMinimal + "checkpoint: {keep: 0}\n"),
              ElementsAre(HasSubstr("checkpoint.keep: 0 is out of range [1,1000]")));
  EXPECT_THAT(ErrorsOf("experiment: a\nlearner: {command: [run]}\ncheckpoint: {best: eval/return}\n"),
              ElementsAre(HasSubstr("3:20 checkpoint.best.metric: a command saves its own checkpoints")));
}

TEST_F(ErrorsTest, PrecisionIsAPercentageOfAMeasuredSpeed) {
  const std::string speed = kMinimal + "report: {kind: parallel_efficiency, ";
  EXPECT_THAT(ErrorsOf(speed + "precision: 0.05}\n"),
              ElementsAre("5:48 report.precision: expected a percentage such as 5% or 0.5%, got 0.05"));
  EXPECT_THAT(ErrorsOf(speed + "precision: 101%}\n"), ElementsAre("5:48 report.precision: 101% is out of range (0,100]"));
  EXPECT_THAT(ErrorsOf(speed + "max_time: 20}\n"), ElementsAre(HasSubstr("5:47 report.max_time: expected a duration")));
  EXPECT_THAT(ErrorsOf(kMinimal + "report: {kind: comparison, precision: 5%}\n"),
              ElementsAre("5:28 report.precision: expected report.kind: parallel_efficiency for this key, got comparison"));
  EXPECT_THAT(ErrorsOf(kMinimal + "report: {precision: 5%}\n"), ElementsAre(HasSubstr("5:10 missing key 'report.kind'")));
  const std::string none = "experiment: a\nenv: {plugin: walker}\nlearner: {plugin: climber}\n";
  EXPECT_THAT(ErrorsOf(none + "report: {kind: comparison}\n"), ElementsAre(HasSubstr("budget: expected at least one limit")));
}

TEST_F(ErrorsTest, FailurePoliciesFitTheirClass) {
  auto error_of = [&](const std::string& line) { return ErrorsOf(kMinimal + line + "\n"); };
  EXPECT_THAT(error_of("on_failure: {signal: {retry: 0}}"),
              ElementsAre("5:22 on_failure.signal: expected one of fail|infeasible|{retry: N}, got a mapping"));
  EXPECT_THAT(error_of("on_failure: {nan: shrink}"),
              ElementsAre("5:19 on_failure.nan: expected one of fail|infeasible|{retry: N}, got 'shrink'"));
  EXPECT_THAT(error_of("on_failure: {host_oom: retry}"), ElementsAre(HasSubstr("got 'retry'")));
  EXPECT_THAT(error_of("on_failure: {gpu_oom: fail}"),
              ElementsAre("5:14 unknown key 'gpu_oom' in on_failure; did you mean 'device_oom'?"));
  EXPECT_THAT(error_of("stop_sweep: {flapping: 3 per minute}"),
              ElementsAre("5:24 stop_sweep.flapping: expected a limit such as '3 in 60s', or 0, got '3 per minute'"));
}

TEST_F(ErrorsTest, AReportNeedsAKind) {
  EXPECT_THAT(ErrorsOf(kMinimal + "report: {baseline: before}\n"), ElementsAre(HasSubstr("5:10 missing key 'report.kind'")));
  EXPECT_THAT(ErrorsOf(kMinimal + "report: {kind: best}\n"),
              ElementsAre("5:16 report.kind: expected one of parallel_efficiency|comparison|ab|search, got 'best'"));
}

TEST_F(ErrorsTest, APluginThatIsNotFoundIsAnErrorAtItsKey) {
  EXPECT_THAT(ErrorsOf("experiment: a\nenv:\n  plugin: walkr\n  options: {anything: 1}\nlearner: {plugin: climber}\n"
                       "budget: {epochs: 1}\n"),
              ElementsAre("3:3 env.plugin: no env plugin 'walkr'"));
}

TEST_F(ErrorsTest, APluginIsNamedInsideAMapping) {
  EXPECT_THAT(ErrorsOf("experiment: a\nenv: [walker]\nlearner: {plugin: climber}\nbudget: {epochs: 1}\n"),
              ElementsAre("2:6 env: expected a mapping, got a list"));
  EXPECT_THAT(ErrorsOf("experiment: a\nenv: {plugin: 5}\nlearner: {plugin: climber}\nbudget: {epochs: 1}\n"),
              ElementsAre(HasSubstr("2:15 env.plugin: expected text, got 5")));
}

TEST_F(ErrorsTest, MonitorsAreNamesOrMappings) {
  EXPECT_THAT(ErrorsOf(kMinimal + "monitors: [[a], {plugn: b}, nobody]\n"),
              ElementsAre(HasSubstr("5:12 monitors: expected a plugin's name or {plugin, options}, got a list"),
                          HasSubstr("5:17 monitors: missing key 'plugin'"), HasSubstr("5:18 unknown key 'plugn' in monitors"),
                          HasSubstr("5:29 monitors.2.plugin: no monitor plugin 'nobody'")));
  EXPECT_THAT(ErrorsOf(kMinimal + "monitors: all\n"), ElementsAre("5:1 monitors: expected a list of plugins, got 'all'"));
}

}  // namespace
}  // namespace backplane
