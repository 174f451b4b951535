// Trials that call a function, and the parts of their identity.
#include "sweep_fixture.hpp"

namespace backplane {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::UnorderedElementsAre;

class FunctionPlan : public SweepTest {
 protected:
  FunctionPlan() {
    Write("train.py", "def train(config): pass");
    Write("lib.py", "a = 1");
  }

  Plan PlanOf(const std::string& text, const std::vector<std::string>& set = {}) {
    PlanResult result = PlanText("experiment: first\n" + text, {}, set);
    for (const Diagnostic& d : result.errors) ADD_FAILURE() << Format(d);
    return result.plan.value_or(Plan{});
  }
  std::string IdOf(const std::string& learner) { return Ids(PlanOf("learner: " + learner + "\n")).at(0); }

  const std::string kFunction = "{function: train.py:train, options: {net: {lr: 1}}}";
};

TEST_F(FunctionPlan, TheContentOfItsFilesBelongsToATrial) {
  EXPECT_THAT(PlanOf("learner: " + kFunction + "\n").trials.at(0).files,
              UnorderedElementsAre(Key("learner.function"), Key("learner.function/modules")));
  for (const char* file : {"train.py", "lib.py"}) {
    const std::string before = IdOf(kFunction);
    Write(file, std::string("another = '") + file + "'");
    EXPECT_NE(IdOf(kFunction), before) << file;
  }
  const std::string listed = "{function: train.py:train, files: [train.py]}";
  const std::string before = IdOf(listed);
  Write("lib.py", "a = 3");
  EXPECT_EQ(IdOf(listed), before) << "the list replaces the search";
}

TEST_F(FunctionPlan, TheInterpreterAndTheFolderDoNot) {
  const std::string id = IdOf(kFunction);
  EXPECT_EQ(IdOf("{function: train.py:train, python: /usr/bin/python3, options: {net: {lr: 1}}}"), id);
  EXPECT_NE(IdOf("{function: train.py:other, options: {net: {lr: 1}}}"), id);
  EXPECT_NE(IdOf("{function: train.py:train, options: {net: {lr: 2}}}"), id);
  const Plan swept = PlanOf("learner: {}\nsweep: {list: [{learner: " + kFunction + "}, {learner: " + kFunction +
                            ", learner.python: other}]}\n");
  ASSERT_EQ(swept.points.size(), 2u);
  EXPECT_EQ(Ids(swept).at(0), id) << "a sweep names it without a value";
  EXPECT_NE(Ids(swept).at(1), id) << "a swept interpreter counts";
  for (const char* folder : {"one", "two"}) Write(std::string(folder) + "/train.py", "def train(config): pass");
  EXPECT_EQ(IdOf("{function: one/train.py:train}"), IdOf("{function: two/train.py:train}"));
  Write("two/lib.py", "");
  EXPECT_NE(IdOf("{function: one/train.py:train}"), IdOf("{function: two/train.py:train}"));
}

TEST_F(FunctionPlan, NestedOptionsAndFunctionsAreSwept) {
  const Plan plan = PlanOf("learner: " + kFunction +
                           "\nsweep: {grid: {learner.options.net.lr: [0.5, 0.25], learner.options.new: [a, null]}, where: "
                           "learner.options.net.lr > 0.1,"
                           " derive: {rollout.num_env_runners: \"1 / learner.options.net.lr\"}}\n");
  ASSERT_EQ(plan.points.size(), 4u);
  const Experiment last = plan.LoadPoint(3).experiment;
  EXPECT_EQ(last.learner.options.dump(), R"({"net":{"lr":0.25},"new":null})");
  EXPECT_EQ(last.rollout.num_env_runners, 4u);
  EXPECT_THAT(Names(plan).at(0), HasSubstr("lr=0.5"));
  const Plan functions =
      PlanOf("learner: {function: train.py:a}\nsweep: {grid: {learner.function: [train.py:a, train.py:b]}}\n");
  ASSERT_EQ(functions.points.size(), 2u);
  EXPECT_EQ(functions.LoadPoint(1).experiment.command.function, (folder_ / "train.py").string() + ":b");
}

TEST_F(FunctionPlan, HasNoStages) {
  const PlanResult result =
      PlanText("experiment: first\nlearner: " + kFunction + "\nstages: [{name: a}, {name: b, learner.options.net.lr: 2}]\n");
  ASSERT_FALSE(result.plan);
  EXPECT_THAT(result.errors.at(0).message, HasSubstr("learner.function: expected a plugin in an experiment with stages"));
}

}  // namespace
}  // namespace backplane
