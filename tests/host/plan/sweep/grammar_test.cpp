// Every mistake in a sweep, each with its place.
#include "sweep_fixture.hpp"

namespace backplane {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using GrammarTest = SweepTest;

TEST_F(GrammarTest, UnknownKeysAndPathsGetHints) {
  EXPECT_THAT(PlanErrors("sweep: {grd: {}}\n"), ElementsAre("5:9 unknown key 'grd' in sweep; did you mean 'grid'?"));
  EXPECT_THAT(PlanErrors("sweep: {grid: {learner.options.lrr: [1, 2]}}\n"),
              ElementsAre("5:16 unknown path 'learner.options.lrr'; did you mean 'learner.options.lr'?"));
  EXPECT_THAT(PlanErrors("sweep: {list: [{name: a, rollout.thread: 2}]}\n"),
              ElementsAre("5:26 unknown path 'rollout.thread'; did you mean 'rollout.threads'?"));
}

TEST_F(GrammarTest, HintsOfPointsAreInTheFormOfPoints) {
  PlanResult result = PlanText(kMinimal + "sweep: {list: [{name: a, rollout.thread: 2}]}\n");
  ASSERT_EQ(result.errors.size(), 1u);
  EXPECT_EQ(result.errors[0].hint, "rollout.threads: 2");
}

TEST_F(GrammarTest, DefaultsOfHydraHintTheirFirstFileAsBase) {
  for (const auto& [list, line] : std::map<std::string, std::string>{{"[ppo/ant]", "base: ppo/ant.yaml"},
                                                                     {"[ppo/ant.yaml, b]", "base: ppo/ant.yaml"},
                                                                     {"[_self_, ppo/ant]", ""},
                                                                     {"[{override: x}]", ""},
                                                                     {"[]", ""}}) {
    const PlanResult result = PlanText(kMinimal + "defaults: " + list + "\n");
    ASSERT_EQ(result.errors.size(), 1u) << list;
    EXPECT_EQ(result.errors[0].hint, line) << list;
  }
}

TEST_F(GrammarTest, EveryPlaceIsReportedOnce) {
  EXPECT_THAT(
      PlanErrors("sweep: {grid: {learner.options.lr: [7, 0.5], env.options.legs: [2, x, 99]}}\n"),
      ElementsAre("5:37 learner.options.lr: 7 is out of range (0,1]", "5:68 env.options.legs: expected an integer, got 'x'",
                  "5:71 env.options.legs: 99 is out of range [1,8]"));
}

TEST_F(GrammarTest, RejectsPathsThatCannotBeAxes) {
  for (const auto& [path, reason] : std::map<std::string, std::string>{{"experiment", "one results folder"},
                                                                       {"output.dir", "one results folder"},
                                                                       {"plugin_path", "share the plugin path"},
                                                                       {"base", "sweep.files"},
                                                                       {"sweep", "cannot change itself"},
                                                                       {"report.kind", "the whole batch"},
                                                                       {"on_failure", "the whole batch"},
                                                                       {"stop_sweep.flapping", "the whole batch"},
                                                                       {"seed", "sweep.seeds"}}) {
    EXPECT_THAT(PlanErrors("sweep: {grid: {" + path + ": [1, 2]}}\n"),
                ElementsAre(::testing::AllOf(HasSubstr("5:16 '" + path + "' cannot be swept"), HasSubstr(reason))));
    EXPECT_THAT(PlanErrors("sweep: {list: [{" + path + ": 1}]}\n"), ElementsAre(HasSubstr("cannot be swept")));
  }
}

TEST_F(GrammarTest, RejectsASeedThatSweepSeedsReplaces) {
  EXPECT_THAT(PlanErrors("seed: 3\nsweep: {seeds: {n: 2}}\n"),
              ElementsAre("5:7 seed: expected none next to sweep.seeds, which sets the seeds from 0 on, got 3; set "
                          "sweep.seeds.first instead"));
  EXPECT_THAT(PlanErrors("seed: 3\nsweep: {seeds: {n: 2, first: 3}}\n"), ElementsAre()) << "the same seeds";
}

TEST_F(GrammarTest, AnAxisIsAListOfValues) {
  EXPECT_THAT(PlanErrors("sweep: {grid: {env.options.legs: 2}}\n"),
              ElementsAre(HasSubstr("5:34 env.options.legs: expected a list of values")));
  EXPECT_THAT(PlanErrors("sweep: {grid: {env.options.legs: []}}\n"),
              ElementsAre(HasSubstr("5:34 env.options.legs: expected at least one")));
  EXPECT_THAT(PlanErrors("sweep: {grid: {env.options.legs: {range: [1, 5]}}}\n"),
              ElementsAre(HasSubstr("5:42 env.options.legs: expected a range")));
  EXPECT_THAT(PlanErrors("sweep: {grid: {env.options.legs: {range: [5, 1, 1]}}}\n"),
              ElementsAre(HasSubstr("do not lead from 5 to 1")));
  EXPECT_THAT(PlanErrors("sweep: {grid: {env.options.legs: {range: [1, 5, 0]}}}\n"), ElementsAre(HasSubstr("steps of 0")));
  EXPECT_THAT(PlanErrors("sweep: {grid: {env.options.legs: {values: [1], wen: \"true\"}}}\n"),
              ElementsAre(HasSubstr("5:48 env.options.legs: expected either")));
  EXPECT_THAT(PlanErrors("sweep: {grid: [1]}\n"), ElementsAre(HasSubstr("5:15 sweep.grid: expected a mapping")));
  EXPECT_THAT(PlanErrors("sweep: [1]\n"), ElementsAre("5:8 sweep: expected a mapping, got a list"));
}

TEST_F(GrammarTest, APathIsGivenOnce) {
  EXPECT_THAT(PlanErrors("sweep:\n  grid: {env.options.legs: [2]}\n  zip: {z: {env.options.legs: [3]}}\n"),
              ElementsAre(HasSubstr("7:13 'env.options.legs' is set twice, first at")));
  EXPECT_THAT(
      PlanErrors("sweep:\n  grid: {env.options.legs: [2]}\n  random: {trials: 1, space: {env.options.legs: {int: [1, 2]}}}\n"),
      ElementsAre(HasSubstr("7:31 'env.options.legs' is set twice")));
  EXPECT_THAT(PlanErrors("sweep: {grid: {learner.options.lr: [0.5], learner.options.alpha: [0.1]}}\n"),
              ElementsAre(HasSubstr("5:43 'learner.options.alpha' and 'learner.options.lr' are names of one value")));
}

TEST_F(GrammarTest, SetAndSweepOfOnePathIsAnError) {
  EXPECT_THAT(PlanErrors("sweep: {grid: {learner.options.lr: [0.5]}}\n", {}, {"learner.options.lr=0.1"}),
              ElementsAre("5:16 'learner.options.lr' is swept here and also set by --set; --sweep replaces the axis"));
  EXPECT_THAT(PlanErrors("sweep: {grid: {learner.options.lr: [0.5]}}\n", {}, {"learner.options.alpha=0.1"}),
              ElementsAre(HasSubstr("--sweep")));
  EXPECT_THAT(PlanErrors("sweep: {grid: {learner: [{plugin: hopper}]}}\n", {}, {"learner.plugin=climber"}),
              ElementsAre(HasSubstr("--sweep")));
}

TEST_F(GrammarTest, ZippedListsHaveEqualLengths) {
  EXPECT_THAT(PlanErrors("sweep: {zip: {arch: {env.options.legs: [1, 2], learner.options.lr: [0.1, 0.2, 0.3]}}}\n"),
              ElementsAre("5:48 zip 'arch': expected lists of equal length, but 'learner.options.lr' has 3 values and "
                          "'env.options.legs' has 2"));
  EXPECT_THAT(PlanErrors("sweep: {zip: {env.options.legs: [1, 2]}}\n"),
              ElementsAre(HasSubstr("5:33 zip 'env.options.legs': expected a mapping")));
  EXPECT_THAT(PlanErrors("sweep: {zip: {z: {env.options.legs: [1, 2]}}}\n", {"env.options.legs=5"}),
              ElementsAre(HasSubstr("--sweep env.options.legs=5 'env.options.legs' belongs to the zip 'z'")));
}

TEST_F(GrammarTest, ListsHoldPoints) {
  EXPECT_THAT(PlanErrors("sweep: {list: [5]}\n"), ElementsAre(HasSubstr("5:16 sweep.list: expected a point such as")));
  EXPECT_THAT(PlanErrors("sweep: {list: []}\n"), ElementsAre(HasSubstr("5:15 sweep.list: expected at least one")));
  EXPECT_THAT(PlanErrors("sweep: {list: {a: 1}}\n"), ElementsAre(HasSubstr("5:15 sweep.list: expected a list of points")));
}

TEST_F(GrammarTest, AReasonIsAText) {
  EXPECT_THAT(PlanErrors("sweep: {list: [{name: a, why: [x]}]}\n"), ElementsAre(HasSubstr("why: expected text, got a")));
  EXPECT_THAT(PlanErrors("sweep: {grid: {learner.options.lr: {values: [1], why: {a: 1}}}}\n"),
              ElementsAre(HasSubstr("learner.options.lr.why: expected text, got a")));
  EXPECT_THAT(PlanErrors("sweep: {grid: {learner.options.lr: {why: all}}}\n"),
              ElementsAre(HasSubstr("{values: [...], when: ...}")));
}

TEST_F(GrammarTest, FilesAreExperimentFiles) {
  EXPECT_THAT(PlanErrors("sweep: {files: [gone.yaml]}\n"), ElementsAre("5:17 sweep.files: cannot read 'gone.yaml'"));
  EXPECT_THAT(PlanErrors("sweep: {files: []}\n"), ElementsAre(HasSubstr("5:16 sweep.files: expected at least one")));
  Write("nested.yaml", "sweep: {seeds: {n: 2}}\n");
  EXPECT_THAT(PlanErrors("sweep: {files: [nested.yaml]}\n"),
              ElementsAre(HasSubstr("1:1 a file in sweep.files cannot have its own sweep")));
  Write("bad.yaml", "env: {options: {legz: 2}}\n");
  EXPECT_THAT(PlanErrors("sweep: {files: [bad.yaml]}\n"), ElementsAre(HasSubstr("1:17 env.walker has no option 'legz'")));
}

TEST_F(GrammarTest, RandomNeedsTrialsAndDistributions) {
  EXPECT_THAT(PlanErrors("sweep: {random: {space: {env.options.legs: {int: [1, 2]}}}}\n"),
              ElementsAre(HasSubstr("5:9 sweep.random: missing key 'trials'")));
  EXPECT_THAT(PlanErrors("sweep: {random: {trials: 2}}\n"), ElementsAre(HasSubstr("missing key 'space'")));
  EXPECT_THAT(PlanErrors("sweep: {random: {trials: 0, space: {}}}\n"),
              ElementsAre(HasSubstr("5:26 sweep.random.trials: 0 is out of range")));
  const auto error_of = [&](const std::string& distribution) {
    return PlanErrors("sweep: {random: {trials: 2, space: {env.options.legs: " + distribution + "}}}\n");
  };
  EXPECT_THAT(error_of("{unform: [1, 2]}"),
              ElementsAre("5:56 env.options.legs: unknown distribution 'unform'; did you mean 'uniform'?"));
  EXPECT_THAT(error_of("[1, 2]"), ElementsAre(HasSubstr("5:55 env.options.legs: expected a distribution such as")));
  EXPECT_THAT(error_of("{int: [2, 1]}"),
              ElementsAre("5:61 env.options.legs: int needs [low, high], two numbers with low <= high, got [2, 1]"));
  EXPECT_THAT(error_of("{int: 3}"), ElementsAre(HasSubstr("two numbers with low <= high, got 3")));
  EXPECT_THAT(error_of("{int: [1, 2.5]}"), ElementsAre(HasSubstr("int needs integers")));
  EXPECT_THAT(error_of("{log_int: [0, 2]}"), ElementsAre(HasSubstr("log_int needs numbers above 0, got 0")));
  EXPECT_THAT(error_of("{int: [1, 8], step: 0.5}"), ElementsAre(HasSubstr("expected an integer as step")));
  EXPECT_THAT(error_of("{uniform: [1, 8], step: -1}"), ElementsAre(HasSubstr("expected a step above 0")));
  EXPECT_THAT(error_of("{choice: [1, 2], step: 1}"), ElementsAre(HasSubstr("choice does not support a step")));
  EXPECT_THAT(
      error_of("{log_int: [1, 8], step: 2}"),
      ElementsAre(HasSubstr("expected no step with log_int, whose values are not spaced evenly, got 2; use int or leave")));
  EXPECT_THAT(error_of("{log_uniform: [1, 8], step: 2}"), ElementsAre(HasSubstr("expected no step with log_uniform")));
  EXPECT_THAT(error_of("{choice: []}"), ElementsAre(HasSubstr("choice needs a list")));
  EXPECT_THAT(error_of("{int: [1, 2], uniform: [1, 2]}"), ElementsAre(HasSubstr("expected one distribution, got")));
  EXPECT_THAT(error_of("{step: 2}"), ElementsAre(HasSubstr("expected one of uniform")));
}

TEST_F(GrammarTest, DeriveCyclesAreErrors) {
  EXPECT_THAT(PlanErrors("sweep:\n  derive:\n    learner.options.micro: \"learner.options.accum\"\n"
                         "    learner.options.accum: \"learner.options.micro * 2\"\n"),
              ElementsAre(HasSubstr("7:5 derive: the expressions form a cycle: learner.options.micro -> learner.options.accum "
                                    "-> learner.options.micro")));
  EXPECT_THAT(PlanErrors("sweep: {derive: {learner.plugin: \"'hopper'\"}}\n"),
              ElementsAre(HasSubstr("5:18 'learner.plugin' cannot be derived")));
}

TEST_F(GrammarTest, RejectsExpressionsAtTheirColumn) {
  EXPECT_THAT(PlanErrors("sweep: {where: [\"env.options.legs >\"]}\n"),
              ElementsAre("5:36 in the expression: expected a value, got the end"));
  EXPECT_THAT(PlanErrors("sweep: {where: [\"env.options.legz > 1\"]}\n"),
              ElementsAre("5:18 where: unknown path 'env.options.legz'; did you mean 'env.options.legs'?"));
  EXPECT_THAT(PlanErrors("sweep: {where: [\"env.options.legs + 1\"]}\n"),
              ElementsAre("5:18 where: expected a condition (true or false), got 5"));
  EXPECT_THAT(PlanErrors("sweep: {derive: {learner.options.micro: \"2 * rollout.threads\"}}\n"),
              ElementsAre("5:46 derive: 'rollout.threads' is 'auto', not a number"));
  EXPECT_THAT(PlanErrors("sweep: {grid: {env.options.legs: {values: [2], when: \"env.options\"}}}\n"),
              ElementsAre("5:55 when: 'env.options' is a mapping, not a value"));
}

TEST_F(GrammarTest, SeedsAndMemoryAxes) {
  EXPECT_THAT(PlanErrors("sweep: {seeds: {n: 0}}\n"), ElementsAre(HasSubstr("5:20 sweep.seeds.n: 0 is out of range")));
  EXPECT_THAT(PlanErrors("sweep: {seeds: {count: 2}}\n"),
              ElementsAre("5:17 sweep.seeds: expected 'n', 'first' or 'paired', got 'count'"));
  EXPECT_THAT(PlanErrors("sweep: {seeds: 5}\n"), ElementsAre(HasSubstr("5:16 sweep.seeds: expected {n: 5")));
  EXPECT_THAT(PlanErrors("sweep: {seeds: [3, 4, 5]}\n"), ElementsAre());
  EXPECT_THAT(PlanErrors("sweep: {seeds: [3, 5]}\n"),
              ElementsAre("5:20 sweep.seeds: expected consecutive seeds, got 5 after 3"));
  EXPECT_THAT(PlanErrors("sweep: {grid: {env.options.legs: [2]}, memory_axes: [env.options.leg]}\n"),
              ElementsAre("5:54 memory_axes: this sweep does not set 'env.options.leg'; did you mean 'env.options.legs'?"));
}

TEST_F(GrammarTest, APlanWithoutPointsNamesTheRules) {
  EXPECT_THAT(PlanErrors("sweep: {grid: {env.options.legs: [2, 3]}, where: [\"env.options.legs > 5\"]}\n"),
              ElementsAre("5:1 sweep: no point is left: 2 generated, dropped 2 by where #1"));
}

TEST_F(GrammarTest, RejectsTooManyPoints) {
  EXPECT_THAT(
      PlanErrors("sweep: {grid: {env.options.reward: {range: [1, 2000, 1]}, learner.options.micro: {range: [1, 2000, 1]}}}\n"),
      ElementsAre("5:1 sweep: expected at most 100,000 points, got more"));
}

TEST_F(GrammarTest, TheShortFormHasPlaces) {
  EXPECT_THAT(PlanErrors("", {"env.options.legs"}), ElementsAre(HasSubstr("--sweep env.options.legs expected path=value")));
  PlanResult result = PlanText(kMinimal, {"env.options.legs=2,99"});
  ASSERT_EQ(result.errors.size(), 1u);
  EXPECT_EQ(Format(result.errors[0]),
            "--sweep: error: env.options.legs: 99 is out of range [1,8]\n  env.options.legs=2,99\n                     "
            "^\nhint: --sweep env.options.legs=8");
  EXPECT_THAT(PlanErrors("", {"seed=1,2"}), ElementsAre(HasSubstr("'seed' cannot be swept")));
}

}  // namespace
}  // namespace backplane
