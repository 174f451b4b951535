#include "config/option_aliases.hpp"
#include "config_fixture.hpp"

namespace backplane {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class OptionsTest : public ConfigTest {
 protected:
  static std::string WithOptions(const std::string& options) {
    return "experiment: a\nenv: {plugin: walker}\nbudget: {iterations: 3}\nlearner:\n  plugin: climber\n  options: {" +
           options + "}\n";
  }
  OptionInfo& LearnerOption(const std::string& name) {
    for (OptionInfo& option : plugins_["climber"].options) {
      if (option.path == name) return option;
    }
    return plugins_["climber"].options.emplace_back(Option(name, BP_PARAM_I64, {}));
  }
};

TEST_F(OptionsTest, EveryOptionOfTheTableIsThere) {
  json expected = {{"lr", 3e-4},      {"epochs", 10}, {"hidden", {64, 64}},   {"norm", true},
                   {"device", "cpu"}, {"note", ""},   {"grad_clip", nullptr}, {"data", nullptr}};
  EXPECT_EQ(Good(WithOptions("")).experiment.learner.options, expected);
}

TEST_F(OptionsTest, ValuesAreReadByTheirType) {
  json options = Good(WithOptions("lr: 1, epochs: 2, hidden: [3], norm: false, device: cuda, note: '5', data: x/../d.csv"))
                     .experiment.learner.options;
  EXPECT_TRUE(options["lr"].is_number_float());
  EXPECT_EQ(options["hidden"], json({3}));
  EXPECT_EQ(options["norm"], false);
  EXPECT_EQ(options["device"], "cuda");
  EXPECT_EQ(options["note"], "5");
  EXPECT_EQ(options["data"], (folder_ / "d.csv").string());
}

TEST_F(OptionsTest, AStructureIsKeptUnchanged) {
  LearnerOption("kwargs") = Option("kwargs", BP_PARAM_ANY, "{}", "mapping");
  LearnerOption("layers") = Option("layers", BP_PARAM_ANY, "[]");
  json options = Good(WithOptions("kwargs: {a: {b: [1, x, '2']}, c: 0.5}")).experiment.learner.options;
  EXPECT_EQ(options["kwargs"], json({{"a", {{"b", {1, "x", "2"}}}}, {"c", 0.5}}));
  EXPECT_EQ(options["layers"], json::array());
  EXPECT_THAT(ErrorsOf(WithOptions("kwargs: [1], layers: 3")),
              ElementsAre("6:21 learner.options.kwargs: expected a mapping, got a list",
                          "6:34 learner.options.layers: expected a mapping or a list, got 3"));
}

TEST_F(OptionsTest, AllErrorsOfOneTableComeTogether) {
  EXPECT_THAT(ErrorsOf(WithOptions("lr: 2, epochs: 1.5, hidden: [4, 0], device: tpu, note: 5, learnin_rate: 1")),
              ElementsAre("6:17 learner.options.lr: 2 is out of range (0,1]", HasSubstr("epochs: expected an integer, got 1.5"),
                          HasSubstr("learner.options.hidden[1]: 0 is out of range [1,)"),
                          HasSubstr("learner.options.device: expected one of cpu|cuda, got 'tpu'"),
                          HasSubstr("learner.options.note: expected text, got 5"),
                          HasSubstr("learner.climber has no option 'learnin_rate'; did you mean 'lr'?")));
}

TEST_F(OptionsTest, AnAliasIsTheOption) {
  auto loaded = Good(WithOptions("learning_rate: 0.5"));
  EXPECT_EQ(loaded.experiment.learner.options["lr"], 0.5);
  EXPECT_FALSE(loaded.experiment.learner.options.contains("learning_rate"));
  EXPECT_EQ(loaded.origin["learner.options.lr"], (folder_ / "e.yaml").string() + ":6:13");
}

TEST_F(OptionsTest, AnAliasNextToItsTargetIsAnError) {
  EXPECT_THAT(ErrorsOf(WithOptions("lr: 0.1, alpha: 0.5")), ElementsAre(HasSubstr("6:22 'alpha' is another name of 'lr'")));
  EXPECT_THAT(ErrorsOf(WithOptions("alpha: 0.1, lr: 0.5")), ElementsAre(HasSubstr("6:13 'alpha' is another name of 'lr'")));
  EXPECT_THAT(ErrorsOf(WithOptions("alpha: 0.1, learning_rate: 0.5")),
              ElementsAre(HasSubstr("'learning_rate' is another name")));
}

TEST_F(OptionsTest, AnAliasWithADotWritesTheHostKey) {
  LearnerOption("num_workers").aliases = {"workers", "rollout.num_env_runners"};
  auto loaded = Good(WithOptions("workers: 4"));
  EXPECT_EQ(loaded.experiment.rollout.num_env_runners, 4u);
  EXPECT_FALSE(loaded.experiment.learner.options.contains("num_workers")) << "written options can be read again";
  EXPECT_EQ(loaded.origin["rollout.num_env_runners"], (folder_ / "e.yaml").string() + ":6:13");
  EXPECT_THAT(ErrorsOf(WithOptions("num_workers: 4") + "rollout: {num_env_runners: 4}\n"),
              ElementsAre(HasSubstr("6:13 'num_workers' is another name of 'rollout.num_env_runners', which is also set at")));
}

TEST_F(OptionsTest, ThePluginSeesTheHostKeyUnderItsOwnName) {
  LearnerOption("num_workers").aliases = {"rollout.num_env_runners"};
  const LoadedExperiment loaded = Good(WithOptions("") + "rollout: {num_env_runners: 7}\n");
  nlohmann::json seen = loaded.experiment.learner.options;
  AddHostNamed(*loaded.learner, ToJson(loaded.experiment), &seen);
  EXPECT_EQ(seen["num_workers"], 7);
  LearnerOption("num_workers").range = "[1,2]";
  EXPECT_THAT(ErrorsOf(WithOptions("") + "rollout: {num_env_runners: 7}\n"),
              ElementsAre(HasSubstr("7:11 rollout.num_env_runners: 7 is out of range [1,2] of learner.climber's option")));
}

TEST_F(OptionsTest, AHostKeyWithAUnitTakesTheOptionsUnit) {
  OptionInfo& option = LearnerOption("memory_mb");
  option.aliases = {"resources.device_memory"};
  option.unit = "MiB";
  auto loaded = Good(WithOptions("memory_mb: 4096"));
  EXPECT_EQ(loaded.experiment.resources.device_memory, DeviceMemory{.bytes = 4ull << 30});
  json seen = loaded.experiment.learner.options;
  AddHostNamed(*loaded.learner, ToJson(loaded.experiment), &seen);
  EXPECT_EQ(seen["memory_mb"], 4096);
  // Only the trial knows its GPU, so the option has its default.
  loaded = Good(WithOptions("") + "resources: {device_memory: 85.5%}\n");
  EXPECT_EQ(loaded.experiment.resources.device_memory, DeviceMemory{.percent = 85.5});
  EXPECT_EQ(ToJson(loaded.experiment)["resources"]["device_memory"], "85.5%");
  EXPECT_EQ(ExperimentFromJson(ToJson(loaded.experiment)).resources.device_memory, DeviceMemory{.percent = 85.5});
}

TEST_F(OptionsTest, ARequiredOptionIsMissedAtThePluginsMapping) {
  LearnerOption("epochs").flags = BP_PARAM_REQUIRED;
  LearnerOption("epochs").def.reset();
  EXPECT_THAT(ErrorsOf(WithOptions("")), ElementsAre(HasSubstr("5:3 learner.climber needs the option 'epochs'")));
  EXPECT_EQ(Good(WithOptions("epochs: 2")).experiment.learner.options["epochs"], 2);
}

TEST_F(OptionsTest, ADefaultThatBreaksItsOwnRuleIsThePluginsError) {
  LearnerOption("epochs").def = "0";
  EXPECT_THAT(ErrorsOf(WithOptions("")), ElementsAre(HasSubstr("learner.climber declares an invalid default for 'epochs'")));
}

TEST_F(OptionsTest, EvaluationOverridesAreCheckedAndStaySparse) {
  auto loaded = Good(kMinimal + "evaluation: {env: {options: {legs: 2}}}\n");
  EXPECT_EQ(loaded.experiment.evaluation.env_options, json({{"legs", 2}}));
  EXPECT_EQ(loaded.experiment.env.options["legs"], 4);
  EXPECT_THAT(ErrorsOf(kMinimal + "evaluation: {env: {options: {legs: 20}}}\n"),
              ElementsAre(HasSubstr("evaluation.env.options.legs: 20 is out of range [1,8]")));
}

TEST_F(OptionsTest, TheDefaultMonitorIsThereWhenItIsInstalled) {
  EXPECT_TRUE(Good(kMinimal).experiment.monitors.empty());
  Add(BP_KIND_MONITOR, "resources", {Option("period", BP_PARAM_F64, "1")});
  auto loaded = Good(kMinimal);
  ASSERT_EQ(loaded.experiment.monitors.size(), 1u);
  EXPECT_EQ(loaded.experiment.monitors[0].options, json({{"period", 1.0}}));
  EXPECT_EQ(loaded.monitors[0]->id, "monitor.resources");
  EXPECT_TRUE(Good(kMinimal + "monitors: []\n").experiment.monitors.empty());
}

TEST_F(OptionsTest, MonitorsTakeOptions) {
  Add(BP_KIND_MONITOR, "plotter", {Option("width", BP_PARAM_I64, "80")});
  auto loaded = Good(kMinimal + "monitors: [plotter, {plugin: plotter, options: {width: 9}}]\n");
  ASSERT_EQ(loaded.experiment.monitors.size(), 2u);
  EXPECT_EQ(loaded.experiment.monitors[0].options["width"], 80);
  EXPECT_EQ(loaded.experiment.monitors[1].options["width"], 9);
}

TEST_F(OptionsTest, PluginFilesAndFoldersStartAtTheFile) {
  auto loaded = Good(
      "experiment: a\nenv: {plugin: ./old/walker.so}\nlearner: {plugin: climber}\nbudget: {iterations: 1}\n"
      "plugin_path: [./plugins, /abs]\n");
  EXPECT_EQ(loaded.experiment.env.plugin, (folder_ / "old/walker.so").string());
  EXPECT_THAT(folders_, ElementsAre(folder_ / "plugins", "/abs"));
  EXPECT_EQ(loaded.env->id, "env.walker");
}

TEST(Ranges, IntervalsAndWords) {
  EXPECT_TRUE(InRange("(0,1]", 1));
  EXPECT_FALSE(InRange("(0,1]", 0));
  EXPECT_TRUE(InRange("[1,)", 1e9));
  EXPECT_FALSE(InRange("auto|[1,)", 0));
  EXPECT_TRUE(InRange("", -5));
  EXPECT_TRUE(IsRangeWord("auto|[1,)", "auto"));
  EXPECT_FALSE(IsRangeWord("auto|[1,)", "[1,)"));
}

}  // namespace
}  // namespace backplane
