// The options of `learner.command`, and the names that replace plugins.
#include "config/command.hpp"

#include "config_fixture.hpp"

namespace backplane {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using CommandKeys = ConfigTest;

TEST_F(CommandKeys, ItsPlaceholdersAreItsOptions) {
  const LoadedExperiment loaded =
      Good("learner: {command: [run, \"{lr}\", \"{seed}\", \"{lr}{n}\"], options: {lr: 1.0e-3, n: x}}\n");
  EXPECT_EQ(loaded.learner->id, kCommandLearner);
  EXPECT_EQ(loaded.env->id, kNoEnv);
  EXPECT_EQ(loaded.experiment.learner.options, (nlohmann::json{{"lr", 1e-3}, {"n", "x"}}));
  EXPECT_TRUE(loaded.monitors.empty());
  EXPECT_EQ(loaded.folder, folder_);
  EXPECT_EQ(loaded.origin.at("learner.options.lr"), (folder_ / "e.yaml").string() + ":1:66");
  EXPECT_EQ(Good("learner: {command: [run, \"{lr}\"], options: {lr: 1}}\n", {"learner.options.lr=2"})
                .experiment.learner.options["lr"],
            2);
}

TEST_F(CommandKeys, AnEnvThatIsGivenIsLookedUpAndChecked) {
  const std::string command = "learner: {command: [run]}\n";
  EXPECT_EQ(Good("env: walker\n" + command).env->id, "env.walker");
  EXPECT_THAT(ErrorsOf("env: {plugin: walker, options: {legs: 9}}\n" + command),
              ElementsAre(HasSubstr("env.options.legs: 9 is out")));
  EXPECT_THAT(ErrorsOf("env: {options: {legs: 9}}\n" + command), ElementsAre(HasSubstr("env.none has no option 'legs'")));
}

TEST_F(CommandKeys, EveryErrorHasItsPlace) {
  const auto of = [this](const std::string& learner) { return ErrorsOf("learner: " + learner + "\n"); };
  EXPECT_THAT(of("{command: [run, \"{lr}\"], options: {lr: [1]}}"),
              ElementsAre("1:49 learner.options.lr: expected a number, true or false, or text, got a list"));
  EXPECT_THAT(of("{command: [run, \"{lr}\"], options: {lr: }}"), ElementsAre(HasSubstr("1:45 {lr}: expected a value")));
  EXPECT_THAT(of("{command: [run], options: {seed: 1}}"), ElementsAre(HasSubstr("the host fills in {seed}")));
  EXPECT_THAT(of("{command: run it}"), ElementsAre(HasSubstr("learner.command: expected a list of words such as")));
  EXPECT_THAT(of("{command: []}"), ElementsAre(HasSubstr("learner.command: expected a list of words such as")));
  EXPECT_THAT(of("{command: [run, {seed}]}"),
              ElementsAre(HasSubstr("learner.command[1]: expected a word, got a mapping; quote")));
  EXPECT_THAT(of("{command: [run], metrics: {a: \"no group\"}}"),
              ElementsAre(HasSubstr("learner.metrics.a: expected one group")));
  EXPECT_THAT(of("{command: [run], tensorboard: ../runs/**}"),
              ElementsAre(HasSubstr("learner.tensorboard: expected files below")));
}

TEST_F(CommandKeys, WordsNamingFilesNextToTheExperimentAreFiles) {
  Write("train.py", "");
  Write("data/corpus.txt", "");
  const auto words =
      Good("learner: {command: [python3, train.py, data/corpus.txt, ./data, none.txt, --steps, 1000, tool/../train.py]}\n")
          .experiment.command.words;
  const std::string folder = folder_.string();
  EXPECT_THAT(words, ElementsAre("python3", folder + "/train.py", folder + "/data/corpus.txt", folder + "/data", "none.txt",
                                 "--steps", "1000", folder + "/train.py"));
  EXPECT_EQ(Good("learner: {command: [./run.sh]}\n").experiment.command.words.front(), folder + "/run.sh")
      << "even before it is there";
}

TEST_F(CommandKeys, NotesSkippedMonitorsAndEvaluation) {
  Add(BP_KIND_MONITOR, "plotter", {});
  const LoadedExperiment loaded = Good("learner: {command: [run]}\nmonitors: [plotter]\nevaluation: {episodes: 5}\n");
  EXPECT_TRUE(loaded.monitors.empty());
  EXPECT_THAT(loaded.notes, ElementsAre(HasSubstr("monitors only observe plugins"), HasSubstr("reports eval/return")));
}

}  // namespace
}  // namespace backplane
