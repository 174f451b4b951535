// Names of points with similar values, places of nulls, and values of the command line.
#include <set>

#include "sweep/plan_lines.hpp"
#include "sweep_fixture.hpp"

namespace backplane {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class PointNamesTest : public SweepTest {
 protected:
  PointNamesTest() {
    plugins_["walker"].options.push_back(Option("kwargs", BP_PARAM_ANY, "{}", "mapping"));
    OptionInfo reward = Option("scale", BP_PARAM_F64, "1");
    plugins_["walker"].options.push_back(reward);
  }

  PlanResult OfCommand(const std::string& values) {
    return PlanText("experiment: n\nlearner: {command: [echo, \"{x}\"], options: {x: 0}}\nsweep: {grid: {learner.options.x: " +
                    values + "}}\n");
  }
  std::vector<std::string> NamesOf(const std::string& values) {
    const PlanResult result = OfCommand(values);
    for (const Diagnostic& d : result.errors) ADD_FAILURE() << Format(d);
    return result.plan ? Names(*result.plan) : std::vector<std::string>();
  }
};

TEST_F(PointNamesTest, DistinguishNumbersAndFlagsFromTexts) {
  EXPECT_THAT(NamesOf("[1, 1.0, \"1\", true, \"true\"]"), ElementsAre("x=1", "x=1.0", "x=\"1\"", "x=true", "x=\"true\""));
  EXPECT_THAT(NamesOf("[\"true\", true, \"1\", 1.0, 1]"), ElementsAre("x=\"true\"", "x=true", "x=\"1\"", "x=1.0", "x=1"));
  EXPECT_THAT(NamesOf("[\"false\", false, \"0.5\", 0.5, '\"0.5\"']"),
              ElementsAre("x=\"false\"", "x=false", "x=\"0.5\"", "x=0.5", "x=\"\\\"0.5\\\"\""));
  const PlanResult result = OfCommand("[1, 1.0, \"1\", true, \"true\"]");
  const std::vector<std::string> shown = DisplayNames(*result.plan);
  EXPECT_EQ(std::set<std::string>(shown.begin(), shown.end()).size(), 5u);
}

TEST_F(PointNamesTest, UseEnoughDigits) {
  EXPECT_THAT(NamesOf("[0.12345671, 0.12345672, 0.123457]"), ElementsAre("x=0.12345671", "x=0.12345672", "x=0.123457"));
  EXPECT_THAT(NamesOf("[0.123457, 0.12345671]"), ElementsAre("x=0.123457", "x=0.12345671"));
  EXPECT_THAT(Names(GoodPlan("sweep: {grid: {learner.options.lr: [0.12345671, 0.12345672]}}\n")),
              ElementsAre("lr=0.12345671", "lr=0.12345672"));
}

TEST_F(PointNamesTest, HaveTheTextsThatACommandGets) {
  EXPECT_THAT(NamesOf("[1.0, 2.0, \"3\"]"), ElementsAre("x=1.0", "x=2.0", "x=3"));
  EXPECT_THAT(NamesOf("[1e5, 100000, 1.10, 1.1, True, on, .5, +3, 18446744073709551615, 18446744073709551614]"),
              ElementsAre("x=1e5", "x=100000", "x=1.10", "x=1.1", "x=True", "x=on", "x=.5", "x=+3", "x=18446744073709551615",
                          "x=18446744073709551614"));
  EXPECT_THAT(NamesOf("{range: [0, 0.3, 0.1]}"), ElementsAre("x=0", "x=0.1", "x=0.2", "x=0.3"));
}

// Existing results keep their names.
TEST_F(PointNamesTest, StayShortIfTheyAreUnique) {
  EXPECT_THAT(Names(GoodPlan("sweep: {grid: {learner.options.lr: [1.0, 0.12345671]}}\n")), ElementsAre("lr=1", "lr=0.123457"));
}

TEST_F(PointNamesTest, DistinguishValuesWithinStructures) {
  EXPECT_THAT(Names(GoodPlan("sweep: {grid: {env.options.kwargs: [{g: 1}, {g: 1.0}, {g: \"1\"}]}}\n")),
              ElementsAre("kwargs=(g=1)", "kwargs=(g=1.0)", "kwargs=(g=\"1\")"));
}

// A typed option has one value, in every spelling.
TEST_F(PointNamesTest, MergeEqualValuesOfTypedOptions) {
  const Plan plan = GoodPlan("sweep: {grid: {env.options.scale: [2, 2.0]}}\n");
  EXPECT_THAT(Names(plan), ElementsAre("scale=2"));
  EXPECT_EQ(DroppedBy(plan, "same as another point"), 1u);
}

TEST_F(PointNamesTest, DistinguishStages) {
  const Plan plan =
      GoodPlan("stages: [{name: rise}, {name: fly}]\nsweep: {grid: {env.options.scale: [0.12345671, 0.12345672]}}\n");
  const std::vector<std::string> names = Names(plan);
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), 4u);
}

TEST_F(PointNamesTest, DistinguishSuggestionsOfASearch) {
  Plan plan =
      GoodPlan("sweep: {search: {trials: 4, objective: {metric: SPS}, space: {env.options.scale: {uniform: [0, 1]}}}}\n");
  for (const double value : {0.12345671, 0.12345672}) plan.Suggest(plan.points.size(), {{"env.options.scale", value}});
  EXPECT_THAT(Names(plan), ElementsAre("scale=0.12345671", "scale=0.12345672"));
}

// Places

TEST_F(PointNamesTest, ReportNullsAtTheirOwnPlace) {
  const auto errors_of = [this](const std::string& sweep, const std::vector<std::string>& short_axes = {}) {
    std::vector<std::string> errors;
    for (const Diagnostic& d :
         PlanText("experiment: n\nlearner:\n  command: [echo, \"{x}\"]\n  options: {x: a}\n" + sweep, short_axes).errors)
      errors.push_back(std::to_string(d.line) + ":" + std::to_string(d.column) + " " + d.message);
    return errors;
  };
  EXPECT_THAT(errors_of("sweep:\n  grid:\n    learner.options.x: [b, null, c]\n"),
              ElementsAre(HasSubstr("7:28 {x}: expected a value")));
  EXPECT_THAT(errors_of("sweep:\n  grid:\n    learner.options.x:\n      - b\n      - ~\n"),
              ElementsAre(HasSubstr("9:9 {x}: expected a value")));
  EXPECT_THAT(errors_of("sweep:\n  zip: {one: {learner.options.x: [b, null]}}\n"), ElementsAre(HasSubstr("6:38 {x}")));
  EXPECT_THAT(errors_of("sweep:\n  list: [{learner.options.x: null}]\n"), ElementsAre(HasSubstr("6:30 {x}")));
  EXPECT_THAT(errors_of("sweep:\n  random: {trials: 9, space: {learner.options.x: {choice: [a, null]}}}\n"),
              ElementsAre(HasSubstr("6:63 {x}")));
  EXPECT_THAT(errors_of("", {"learner.options.x=a,null"}), ElementsAre(HasSubstr("0:21 {x}")));
}

TEST_F(PointNamesTest, ReportNullsOfPluginsAtTheirOwnPlace) {
  EXPECT_THAT(PlanErrors("sweep: {grid: {learner.options.lr: [0.1, null]}}\n"),
              ElementsAre("5:42 learner.options.lr: expected a number, got nothing"));
  EXPECT_THAT(PlanErrors("sweep:\n  grid:\n    rollout.threads:\n    - 1\n    -\n"), ElementsAre(HasSubstr("8:5 ")));
}

// Arguments

TEST_F(PointNamesTest, KeepHashesOfArguments) {
  const std::string command = "experiment: n\nlearner: {command: [echo, \"{x}\"], options: {x: a}}\n";
  const auto x_of = [&](const std::string& value) {
    const PlanResult result = PlanText(command, {}, {"learner.options.x=" + value});
    return result.plan ? result.plan->base.experiment.learner.options["x"] : json(result.errors.at(0).message);
  };
  EXPECT_EQ(x_of("run #3"), "run #3");
  EXPECT_EQ(x_of("#"), "#");
  EXPECT_EQ(x_of("'a #b'"), "a #b");
  const PlanResult swept = PlanText(command, {"learner.options.x=a #1,#2,\"c #3\""});
  ASSERT_TRUE(swept.plan);
  EXPECT_THAT(ValuesAt(*swept.plan, "learner.options.x"), ElementsAre("a #1", "#2", "c #3"));
}

TEST_F(PointNamesTest, RejectUnclosedArguments) {
  EXPECT_THAT(PlanErrors("", {}, {"learner.options.note=\"a"}),
              ElementsAre(HasSubstr("expected a closing \", got the end of the text")));
  EXPECT_THAT(PlanErrors("", {}, {"learner.options.hidden=[1, 2"}), ElementsAre(HasSubstr("expected a closing ']'")));
  const auto column_of = [this](const std::string& axis) {
    const PlanResult result = PlanText(kMinimal, {axis});
    return result.errors.size() == 1 ? result.errors[0].column : -1;
  };
  // The bracket around the values does not close a bracket inside them.
  EXPECT_EQ(column_of("learner.options.hidden=[1,2"), 24);
  EXPECT_EQ(column_of("learner.options.hidden=[1],[[2],3"), 28);
  EXPECT_EQ(column_of("learner.options.note=a,\"b"), 24);
  EXPECT_EQ(column_of("env={plugin: walker"), 5);
}

}  // namespace
}  // namespace backplane
