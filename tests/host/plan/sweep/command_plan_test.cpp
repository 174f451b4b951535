// Trials by command, and the parts of their identity.
#include "sweep_fixture.hpp"

namespace backplane {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::UnorderedElementsAre;

class CommandPlan : public SweepTest {
 protected:
  CommandPlan() {
    Write("train.py", "print(1)");
    Write("lib.txt", "a");
  }

  Plan PlanOf(const std::string& text, const std::vector<std::string>& set = {}) {
    PlanResult result = PlanText("experiment: first\n" + text, {}, set);
    for (const Diagnostic& d : result.errors) ADD_FAILURE() << Format(d);
    return result.plan.value_or(Plan{});
  }
  std::string IdOf(const std::string& text) { return Ids(PlanOf(text)).at(0); }

  const std::string kCommand = "learner: {command: [python3, train.py, --lr, \"{lr}\"], options: {lr: 1}, files: [lib.txt]}\n";
};

TEST_F(CommandPlan, TheContentOfItsFilesBelongsToATrial) {
  const Plan plan = PlanOf(kCommand);
  EXPECT_THAT(plan.trials.at(0).files, UnorderedElementsAre(Key("learner.command.1"), Key("learner.files.0")));
  for (const char* file : {"train.py", "lib.txt"}) {
    const Plan before = PlanOf(kCommand);
    Write(file, std::string("another ") + file);
    const Plan after = PlanOf(kCommand);
    EXPECT_EQ(before.points.at(0).id, after.points.at(0).id) << file;
    EXPECT_NE(Ids(before), Ids(after)) << file;
    EXPECT_NE(before.trials.at(0).files, after.trials.at(0).files) << file;
  }
}

TEST_F(CommandPlan, WordsAndOptionsChangeThePoint) {
  const std::string id = IdOf(kCommand);
  EXPECT_EQ(IdOf(kCommand), id);
  EXPECT_NE(IdOf("learner: {command: [python3, train.py, --alpha, \"{lr}\"], options: {lr: 1}, files: [lib.txt]}\n"), id);
  EXPECT_NE(IdOf("learner: {command: [python3, train.py, --lr, \"{lr}\"], options: {lr: 2}, files: [lib.txt]}\n"), id);
  EXPECT_NE(IdOf("learner: {command: [python3, train.py, --lr, \"{lr}\"], options: {lr: 1}}\n"), id);
  EXPECT_NE(IdOf("env: walker\n" + kCommand), id) << "its declared env";
  EXPECT_EQ(IdOf(kCommand + "resources: {memory: 1GiB}\n"), id);
}

TEST_F(CommandPlan, ItsOptionsAreSwept) {
  const Plan plan = PlanOf(
      kCommand +
      "sweep: {grid: {learner.options.lr: [0.5, 0.25]}, derive: {rollout.num_env_runners: \"1 / learner.options.lr\"}}\n");
  EXPECT_THAT(ValuesAt(plan, "learner.options.lr"), ElementsAre(0.5, 0.25));
  EXPECT_THAT(Names(plan).at(0), HasSubstr("lr=0.5"));
  EXPECT_EQ(plan.LoadPoint(1).experiment.rollout.num_env_runners, 4u);
  const Plan commands = PlanOf(
      "learner: {command: [python3, \"{lr}\"], options: {lr: 1}}\n"
      "sweep: {grid: {learner.command: [[python3, \"{lr}\"], [sh, \"{lr}\"]]}}\n");
  EXPECT_EQ(commands.points.size(), 2u);
}

TEST_F(CommandPlan, ComparesWithPluginsAsAnArm) {
  const Plan plan = PlanOf(
      "env: walker\nbudget: {iterations: 3}\ncompare: {arms: [{name: plugin, learner: climber}, {name: script, "
      "learner: {command: [python3, train.py]}}]}\n");
  ASSERT_EQ(plan.points.size(), 2u);
  EXPECT_FALSE(plan.LoadPoint(0).experiment.HasCommand());
  EXPECT_TRUE(plan.LoadPoint(1).experiment.HasCommand());
  EXPECT_EQ(plan.LoadPoint(1).env->id, "env.walker");
}

TEST_F(CommandPlan, HasNoStages) {
  const PlanResult result =
      PlanText("experiment: first\n" + kCommand + "stages: [{name: a}, {name: b, learner.options.lr: 2}]\n");
  ASSERT_FALSE(result.plan);
  EXPECT_THAT(result.errors.at(0).message, HasSubstr("expected a plugin in an experiment with stages"));
}

TEST_F(CommandPlan, OmitsCommandKeysFromAPluginsIdentity) {
  const Plan plan = PlanOf(kMinimal.substr(kMinimal.find('\n') + 1));
  EXPECT_EQ(plan.Identity(plan.trials.at(0))["point"]["learner"].size(), 2u) << "id and options";
}

}  // namespace
}  // namespace backplane
