#include "config_fixture.hpp"

namespace backplane {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using YamlTest = ConfigTest;

TEST_F(YamlTest, ADuplicateKeyIsAnErrorAtTheSecondOne) {
  EXPECT_THAT(ErrorsOf(kMinimal + "seed: 1\nseed: 2\n"),
              ElementsAre("6:1 duplicate key 'seed', already set at " + (folder_ / "e.yaml").string() + ":5:1"));
}

TEST_F(YamlTest, ASecondDocumentIsAnError) {
  EXPECT_THAT(ErrorsOf("---\n" + kMinimal + "---\nseed: 1\n"),
              ElementsAre("6:1 expected one document in an experiment file, got a second one"));
}

TEST_F(YamlTest, ALeadingDocumentMarkIsFine) { Good("# purpose\n---\n" + kMinimal); }

TEST_F(YamlTest, OctalLookAlikesAreErrorsAnywhere) {
  EXPECT_THAT(ErrorsOf(kMinimal + "seed: 010\n"), ElementsAre(HasSubstr("5:7 '010' looks like an octal number")));
  EXPECT_THAT(ErrorsOf(kMinimal + "seed: 0o17\n"), ElementsAre(HasSubstr("octal")));
  EXPECT_EQ(Good(kMinimal + "seed: 0\n").experiment.seed, 0u);
}

TEST_F(YamlTest, OnlyFiniteNumbersAreNumbers) {
  EXPECT_THAT(ErrorsOf(kMinimal + "resources: {gpus: .nan}\n"), ElementsAre("5:19 expected a finite number, got '.nan'"));
  EXPECT_THAT(ErrorsOf(kMinimal + "resources: {gpus: -.inf}\n"),
              ElementsAre("5:19 resources.gpus: expected a finite number, got '-.inf'"));
  EXPECT_THAT(ErrorsOf(kMinimal + "resources: {gpus: nan}\n"),
              ElementsAre("5:19 resources.gpus: expected a number, got 'nan'"));
  EXPECT_THAT(ErrorsOf(kMinimal + "resources: {gpus: 1e999}\n"), ElementsAre(HasSubstr("expected a number, got '1e999'")));
}

TEST_F(YamlTest, TabsAreErrors) {
  EXPECT_THAT(ErrorsOf(kMinimal + "rollout:\n\tthreads: 2\n"), ElementsAre("6:1 expected spaces, got a tab"));
  EXPECT_THAT(ErrorsOf(kMinimal + "seed:\t2\n"), ElementsAre("5:6 expected spaces, got a tab"));
}

TEST_F(YamlTest, BrokenYamlNamesItsPlace) {
  EXPECT_THAT(ErrorsOf(kMinimal + "rollout: {threads: 2\n"),
              ElementsAre("5:10 expected a closing '}', got the end of the text"));
  EXPECT_THAT(ErrorsOf(kMinimal + "rollout: %x\n"),
              ElementsAre(HasSubstr("expected a value; quote a text that begins with this character")));
}

TEST_F(YamlTest, AnchorsAndAliasesWork) {
  auto loaded = Good(kMinimal + "rollout: {num_env_runners: &n 4, num_envs_per_env_runner: *n}\n");
  EXPECT_EQ(loaded.experiment.rollout.rows(), 16u);
}

TEST_F(YamlTest, AnErrorBehindAnAliasIsReportedOnce) {
  plugins_["swimmer"].options = plugins_["walker"].options;
  EXPECT_THAT(ErrorsOf("experiment: a\nlearner: {plugin: climber}\nbudget: {iterations: 1}\n"
                       "env: {plugin: walker, options: &o {legz: 1}}\nevaluation: {env: {options: *o}}\n"),
              ElementsAre("4:36 env.walker has no option 'legz'; did you mean 'legs'?"));
}

TEST_F(YamlTest, RejectsMergeKeysWithAnAlternative) {
  EXPECT_THAT(ErrorsOf(kMinimal + "rollout: &r {threads: 2}\nevaluation: {<<: *r}\n"),
              ElementsAre(HasSubstr("merge keys (<<) are not supported; move the shared part to a file")));
}

TEST_F(YamlTest, AnAliasThatContainsItselfEnds) { EXPECT_FALSE(ErrorsOf(kMinimal + "rollout: &r {threads: *r}\n").empty()); }

TEST_F(YamlTest, RejectsTags) { EXPECT_THAT(ErrorsOf(kMinimal + "seed: !!str 5\n"), ElementsAre(HasSubstr("the tag"))); }

TEST_F(YamlTest, WindowsLineEndsAndAByteOrderMarkDoNotMatter) {
  std::string text = "\xEF\xBB\xBF";
  for (char c : kMinimal) text += c == '\n' ? std::string("\r\n") : std::string(1, c);
  EXPECT_EQ(Good(text).experiment.name, "first");
}

TEST_F(YamlTest, AFileThatIsNotThereIsOneError) {
  LoadResult result = Load(folder_ / "none.yaml");
  ASSERT_EQ(result.errors.size(), 1u);
  EXPECT_THAT(Format(result.errors[0]), HasSubstr("none.yaml: error: cannot read"));
}

TEST_F(YamlTest, AnEmptyFileListsMissingKeys) {
  EXPECT_THAT(ErrorsOf(""),
              ElementsAre(HasSubstr("'env.plugin'"), HasSubstr("'learner.plugin'"),
                          HasSubstr("expected at least one limit of iterations, env_steps, episodes, epochs, wall_time")));
}

TEST_F(YamlTest, TheBudgetOfAFileReplacesItsBasesBudget) {
  Write("base.yaml", "budget: {iterations: 3, wall_time: 5s}\n");
  const std::string file = "base: base.yaml\nexperiment: over\nenv: {plugin: walker}\nlearner: {plugin: climber}\n";
  EXPECT_EQ(Good(file).experiment.budget.iterations, 3u);
  const BudgetConfig own = Good(file + "budget: {env_steps: 7}\n").experiment.budget;
  EXPECT_EQ(own.env_steps, 7u);
  EXPECT_FALSE(own.iterations || own.wall_time_s);
  const BudgetConfig set = Good(file, {"budget.env_steps=7"}).experiment.budget;
  EXPECT_TRUE(set.iterations && set.wall_time_s && set.env_steps == 7u) << "--set changes one key";
}

TEST_F(YamlTest, ABaseIsMergedDeeplyAndItsListsAreReplaced) {
  Write("shared/base.yaml",
        "experiment: base\nlearner: {plugin: climber, options: {hidden: [1, 2, 3], lr: 0.5}}\nbudget: {iterations: 3}\n");
  auto loaded = Good("base: shared/base.yaml\nexperiment: over\nenv: {plugin: walker}\nlearner: {options: {hidden: [8]}}\n");
  EXPECT_EQ(loaded.experiment.name, "over");
  EXPECT_EQ(loaded.experiment.learner.options["hidden"], nlohmann::json({8}));
  EXPECT_EQ(loaded.experiment.learner.options["lr"], 0.5);
  EXPECT_EQ(loaded.origin["learner.options.lr"], (folder_ / "shared/base.yaml").string() + ":2:57");
  EXPECT_EQ(loaded.origin["learner.options.hidden"], (folder_ / "e.yaml").string() + ":4:21");
}

// A budget replaces the base's budget as a whole, including limits under plugin names.
TEST_F(YamlTest, ABudgetReplacesABasesLimitsUnderPluginNames) {
  OptionInfo passes = Option("num_train_epochs", BP_PARAM_I64, {});
  passes.aliases = {"budget.epochs"};
  OptionInfo saves = Option("save_steps", BP_PARAM_I64, {});
  saves.aliases = {"checkpoint.every_iterations"};
  plugins_["climber"].options.push_back(passes);
  plugins_["climber"].options.push_back(saves);
  Write("base.yaml",
        "experiment: under\nenv: {plugin: walker}\n"
        "learner: {plugin: climber, options: {num_train_epochs: 3, save_steps: 7}}\n");
  const auto loaded = [&](const std::string& lines) { return Good("base: base.yaml\nexperiment: over\n" + lines).experiment; };
  EXPECT_EQ(loaded("").budget.epochs, 3u);
  EXPECT_EQ(loaded("budget: {iterations: 5}\n").budget.epochs, std::nullopt);
  EXPECT_EQ(loaded("budget: {iterations: 5}\n").budget.iterations, 5u);
  EXPECT_EQ(loaded("budget: {epochs: 2}\n").budget.epochs, 2u);
  EXPECT_EQ(loaded("budget: {iterations: 5}\n").checkpoint.every_iterations, 7u);
  // Limits in the file of the budget, or in a file above it, add to it.
  EXPECT_EQ(loaded("budget: {iterations: 5}\nlearner: {options: {num_train_epochs: 4}}\n").budget.epochs, 4u);
  EXPECT_EQ(loaded("learner: {options: {num_train_epochs: 4}}\n").budget.epochs, 4u);
  Write("middle.yaml", "base: base.yaml\nbudget: {iterations: 5}\n");
  EXPECT_EQ(Good("base: middle.yaml\nexperiment: over\n").experiment.budget.epochs, std::nullopt);
}

TEST_F(YamlTest, ErrorsOfTheFileComeBeforeErrorsOfItsBase) {
  Write("base.yaml", "seed: x\n");
  EXPECT_THAT(ErrorsOf("base: base.yaml\n" + kMinimal + "rollout: {threads: x}\n"),
              ElementsAre(HasSubstr("6:20 rollout.threads"), HasSubstr("1:7 seed")));
}

TEST_F(YamlTest, ABaseThatBuildsUponItselfIsAnError) {
  Write("a.yaml", "base: e.yaml\n");
  EXPECT_THAT(ErrorsOf("base: a.yaml\n" + kMinimal), ElementsAre(HasSubstr("extends itself")));
  EXPECT_THAT(ErrorsOf("base: none.yaml\n" + kMinimal), ElementsAre(HasSubstr("1:1 base: cannot read")));
}

TEST_F(YamlTest, PathsInABaseStartAtTheBase) {
  Write("shared/base.yaml", "plugin_path: [./plugins]\nlearner: {options: {data: d.csv}}\n");
  auto loaded = Good("base: shared/base.yaml\n" + kMinimal);
  EXPECT_THAT(loaded.experiment.plugin_path, ElementsAre((folder_ / "shared/plugins").string()));
  EXPECT_EQ(loaded.experiment.learner.options["data"], (folder_ / "shared/d.csv").string());
}

}  // namespace
}  // namespace backplane
