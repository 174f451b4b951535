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

// A script may distinguish 1.10 from 1.1; a plugin gets the number.
TEST_F(CommandPlan, TextsOfOptionsBelongToThePointIfTheyDifferFromTheirValues) {
  const auto with = [&](const std::string& lr) {
    return PlanOf("learner: {command: [python3, train.py, \"{lr}\"], options: {lr: " + lr + "}}\n");
  };
  for (const auto& [text, canonical] : std::map<std::string, std::string>{
           {"1e5", "100000.0"}, {"1.10", "1.1"}, {"1.00", "1.0"}, {"+3", "3"}, {".5", "0.5"}, {"True", "true"}, {"-0", "0"}}) {
    const Plan written = with(text), plain = with(canonical);
    EXPECT_NE(written.points[0].id, plain.points[0].id) << text;
    EXPECT_EQ(written.points[0].plain_id, plain.points[0].id) << text;
    EXPECT_EQ(plain.points[0].plain_id, "") << canonical;
    EXPECT_EQ(written.LoadPoint(0).experiment.command.written, json({{"lr", text}}));
    EXPECT_EQ(written.LoadPoint(0).experiment.learner.options, plain.LoadPoint(0).experiment.learner.options) << text;
  }
  EXPECT_NE(with("18446744073709551615").points[0].id, with("18446744073709551614").points[0].id);
  EXPECT_EQ(with("on").points[0].id, with("\"on\"").points[0].id) << "a text either way";
  EXPECT_EQ(with("3").Identity(with("3").trials[0])["point"]["learner"].count("written"), 0u) << "existing ids stay";
}

TEST_F(CommandPlan, ASavedConfigurationKeepsTheTextsOfItsOptions) {
  const std::string text = "learner: {command: [python3, train.py, \"{lr}\"], options: {lr: 3.0e-4}}\n";
  const Plan plan = PlanOf(text);
  const json saved = ToJson(plan.LoadPoint(0).experiment);
  EXPECT_EQ(saved["learner"]["written"], json({{"lr", "3.0e-4"}}));
  EXPECT_EQ(ExperimentFromJson(saved).command.written, saved["learner"]["written"]);
  const std::string read_again =
      "learner: {command: [python3, train.py, \"{lr}\"], options: {lr: 0.0003}, written: {lr: \"3.0e-4\"}}\n";
  EXPECT_EQ(PlanOf(read_again).points[0].id, plan.points[0].id);
  EXPECT_EQ(PlanOf(read_again, {"learner.options.lr=0.001"}).points[0].id,
            PlanOf(text, {"learner.options.lr=0.001"}).points[0].id)
      << "the text is of another value";
}

TEST_F(CommandPlan, AnAxisHasAPointForEachText) {
  const Plan plan = PlanOf(
      "learner: {command: [python3, train.py, \"{lr}\"], options: {lr: 1}}\n"
      "sweep: {grid: {learner.options.lr: [1.10, 1.1, 1.10]}}\n");
  EXPECT_THAT(Names(plan), ElementsAre("lr=1.10", "lr=1.1"));
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
