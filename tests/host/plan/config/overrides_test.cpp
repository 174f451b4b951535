#include <filesystem>

#include "config_fixture.hpp"

namespace backplane {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using OverridesTest = ConfigTest;

TEST_F(OverridesTest, AValueIsTypedAsInTheFile) {
  auto loaded = Good(kMinimal, {"seed=7", "rollout.threads=2", "learner.options.hidden=[1, 2]", "budget={wall_time: 1h}"});
  EXPECT_EQ(loaded.experiment.seed, 7u);
  EXPECT_EQ(loaded.experiment.rollout.threads, 2u);
  EXPECT_EQ(loaded.experiment.learner.options["hidden"], nlohmann::json({1, 2}));
  EXPECT_FALSE(loaded.experiment.budget.iterations);
  EXPECT_EQ(loaded.origin["seed"], "--set");
}

TEST_F(OverridesTest, ErrorsShowTheTextAndTheColumn) {
  EXPECT_THAT(ErrorsOf(kMinimal, {"seed=4.O", "seed='5'"}),
              ElementsAre("--set seed='5' seed: expected an integer, got the text '5'"));
  LoadResult result = LoadText(kMinimal, {"env.options.legs=4.O"});
  ASSERT_EQ(result.errors.size(), 1u);
  EXPECT_EQ(Format(result.errors[0]),
            "--set: error: env.options.legs: expected an integer, got '4.O'\n  env.options.legs=4.O\n                   ^");
}

TEST_F(OverridesTest, APathMustBeKnown) {
  EXPECT_THAT(ErrorsOf(kMinimal, {"rollout.thread=2"}),
              ElementsAre("--set rollout.thread=2 unknown path 'rollout.thread'; did you mean 'rollout.threads'?"));
  EXPECT_THAT(ErrorsOf(kMinimal, {"env.options.legz=2"}), ElementsAre(HasSubstr("did you mean 'env.options.legs'?")));
  EXPECT_THAT(ErrorsOf(kMinimal, {"lr=2"}), ElementsAre(HasSubstr("did you mean 'learner.options.lr'?")));
  EXPECT_THAT(ErrorsOf(kMinimal, {"seed"}), ElementsAre("--set seed expected path=value, got 'seed'"));
  EXPECT_THAT(ErrorsOf(kMinimal, {"base=x.yaml"}), ElementsAre(HasSubstr("base can only be set in a file")));
  EXPECT_THAT(ErrorsOf(kMinimal, {"seed.x=1"}), ElementsAre(HasSubstr("unknown path")));
}

TEST_F(OverridesTest, AnAbbreviatedNameAndAMisspeltSectionAreMended) {
  plugins_["climber"].options.push_back(Option("elite_fraction", BP_PARAM_F64, "0.5"));
  const auto meant = [&](const char* set, const char* path) {
    EXPECT_THAT(ErrorsOf(kMinimal, {set}), ElementsAre(HasSubstr("; did you mean '" + std::string(path) + "'?")));
  };
  meant("learner.options.elite_frac=0.2", "learner.options.elite_fraction");
  meant("lerner.options.lr=1", "learner.options.lr");
  meant("lerner.options.elite_frac=1", "learner.options.elite_fraction");
  meant("lerner.options.x=1", "learner.options");
  meant("learner.option.lr=1", "learner.options.lr");
  meant("rolout.threads=2", "rollout.threads");
  meant("eval.episodes=2", "evaluation.episodes");
  EXPECT_THAT(ErrorsOf("experiment: a\nenv: {plugin: walker}\nbudget: {iterations: 3}\n"
                       "learner: {plugin: climber, options: {elite_frac: 0.1}}\n"),
              ElementsAre(HasSubstr("; did you mean 'elite_fraction'?")));
}

TEST_F(OverridesTest, APathGoesIntoAStructure) {
  plugins_["walker"].options.push_back(Option("kwargs", BP_PARAM_ANY, "{}", "mapping"));
  const auto loaded = Good(kMinimal, {"env.options.kwargs={b: 1}", "env.options.kwargs.a.c=2"});
  EXPECT_EQ(loaded.experiment.env.options["kwargs"], nlohmann::json({{"a", {{"c", 2}}}, {"b", 1}}));
  EXPECT_THAT(ErrorsOf(kMinimal, {"env.options.legs.a=2"}), ElementsAre(HasSubstr("unknown path")));
}

TEST_F(OverridesTest, APlusAllowsAddingAndTheResultIsCheckedLikeTheFile) {
  EXPECT_EQ(Good(kMinimal, {"+rollout.threads=2"}).experiment.rollout.threads, 2u);
  EXPECT_THAT(ErrorsOf(kMinimal, {"+rollout.thread=2"}), ElementsAre(HasSubstr("unknown key 'thread' in rollout")));
  EXPECT_THAT(ErrorsOf(kMinimal + "seed: 1\n", {"+seed.x=1"}), ElementsAre(HasSubstr("'seed.x' cannot be set")));
}

TEST_F(OverridesTest, AnOverrideReplacesTheFileUnderWhicheverName) {
  EXPECT_EQ(Good(kMinimal, {"learner.options.alpha=0.5"}).experiment.learner.options["lr"], 0.5);
  std::string file =
      "experiment: a\nenv: {plugin: walker}\nbudget: {iterations: 3}\nlearner: {plugin: climber, options: {alpha: 0.1}}\n";
  EXPECT_EQ(Good(file, {"learner.options.lr=0.5"}).experiment.learner.options["lr"], 0.5);
  EXPECT_EQ(Good(file, {"learner.options={learning_rate: 0.25}"}).experiment.learner.options["lr"], 0.25);
}

TEST_F(OverridesTest, TwoNamesOfOneValueAreAnErrorAsInAFile) {
  EXPECT_THAT(
      ErrorsOf(kMinimal, {"learner.options.alpha=0.5", "learner.options.lr=0.25"}),
      ElementsAre("--set learner.options.lr=0.25 'learner.options.lr' is another name of 'learner.options.alpha', which "
                  "is also set by --set; keep one of them"));
  EXPECT_EQ(Good(kMinimal, {"seed=1", "seed=2"}).experiment.seed, 2u) << "the same name again replaces";
}

TEST_F(OverridesTest, AnOverrideOfAHostAliasWritesTheHostKey) {
  OptionInfo workers = Option("num_workers", BP_PARAM_I64, {});
  workers.aliases = {"rollout.num_env_runners"};
  plugins_["climber"].options.push_back(workers);
  auto loaded = Good(kMinimal + "rollout: {num_env_runners: 2}\n", {"learner.options.num_workers=4"});
  EXPECT_EQ(loaded.experiment.rollout.num_env_runners, 4u);
}

TEST_F(OverridesTest, ADifferentPluginRejectsTheOldOnesOptions) {
  std::string file =
      "experiment: a\nlearner: {plugin: climber}\nbudget: {iterations: 3}\n"
      "env: {plugin: walker, options: {reward: 2, legs: 6}}\n";
  EXPECT_THAT(ErrorsOf(file, {"env.plugin=swimmer"}), ElementsAre(HasSubstr("4:44 env.swimmer has no option 'legs'")));
  EXPECT_EQ(Good(kMinimal, {"env.options.fins=3", "env.plugin=swimmer"}).experiment.env.options["fins"], 3);
}

TEST_F(OverridesTest, PathsStartAtTheWorkingFolder) {
  auto loaded = Good(kMinimal, {"learner.options.data=d.csv"});
  EXPECT_EQ(loaded.experiment.learner.options["data"], (std::filesystem::current_path() / "d.csv").string());
}

TEST_F(OverridesTest, NullTakesALimitAway) {
  EXPECT_FALSE(Good(kMinimal + "resources: {memory: 1GiB}\n", {"resources.memory=null"}).experiment.resources.memory_bytes);
}

}  // namespace
}  // namespace backplane
