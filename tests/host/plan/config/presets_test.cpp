// Presets: values for a kind of machine, over the file and under --set.
#include "config/presets.hpp"

#include "config_fixture.hpp"

namespace backplane {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr uint64_t kGiB = 1024ull * 1024 * 1024;

class PresetsTest : public ConfigTest {
 protected:
  PresetsTest() {
    Add(BP_KIND_LEARNER, "hopper", {Option("sigma", BP_PARAM_F64, "0.1")});
    Write("presets/wide.yaml",
          "device: {gpu: Wide 9000, memory: 36GiB}\n"
          "rollout: {num_env_runners: 4, threads: 2}\n"
          "for_learner:\n"
          "  climber: {rollout: {num_env_runners: 8}, learner: {options: {alpha: 0.5}}}\n"
          "  hopper: {learner: {options: {sigma: 2}}}\n");
    Write("presets/narrow.yaml", "device: {gpu: Narrow, memory: 5GiB}\nrollout: {num_env_runners: 2}\n");
    Write("presets/plain.yaml", "device: {gpu: none}\nrollout: {num_env_runners: 1}\n");
  }

  LoadResult LoadWith(const std::string& preset, const std::string& text, std::vector<std::string> set = {}) {
    return LoadExperiment(Write("e.yaml", text), {std::move(set), Lookup(), {preset, {}, [this] { return device_; }}});
  }

  LoadedExperiment GoodWith(const std::string& preset, const std::string& text, std::vector<std::string> set = {}) {
    LoadResult result = LoadWith(preset, text, std::move(set));
    for (const Diagnostic& d : result.errors) ADD_FAILURE() << Format(d);
    return result.loaded.value_or(LoadedExperiment{});
  }

  std::string ErrorWith(const std::string& preset, const std::string& text = kMinimal) {
    const LoadResult result = LoadWith(preset, text);
    return result.errors.size() == 1 ? Format(result.errors[0]) : std::to_string(result.errors.size()) + " errors";
  }

  std::optional<PresetDevice> device_;
};

TEST_F(PresetsTest, OverridesTheFileButNotSet) {
  const LoadedExperiment loaded =
      GoodWith("wide", kMinimal + "rollout: {num_env_runners: 3, num_envs_per_env_runner: 5}\n", {"rollout.threads=7"});
  EXPECT_EQ(loaded.experiment.rollout.num_env_runners, 8u) << "values for a learner override values for all";
  EXPECT_EQ(loaded.experiment.rollout.num_envs_per_env_runner, 5u);
  EXPECT_EQ(loaded.experiment.rollout.threads, 7u);
  EXPECT_EQ(loaded.experiment.learner.options["lr"], 0.5) << "an alias replaces the file's value under its other name";
  EXPECT_EQ(loaded.experiment.preset, "wide");
  EXPECT_THAT(loaded.origin.at("learner.options.lr"), HasSubstr("presets/wide.yaml:4:"));
}

TEST_F(PresetsTest, ABudgetReplacesTheFilesBudget) {
  Write("presets/short.yaml", "budget: {env_steps: 9}\n");
  const std::string file =
      "experiment: a\nenv: {plugin: walker}\nlearner: {plugin: climber}\nbudget: {iterations: 3, wall_time: 5s}\n";
  const BudgetConfig budget = GoodWith("short", file, {"budget.epochs=2"}).experiment.budget;
  EXPECT_EQ(budget.env_steps, 9u);
  EXPECT_EQ(budget.epochs, 2u);
  EXPECT_FALSE(budget.iterations || budget.wall_time_s);
}

TEST_F(PresetsTest, CommandLineOverridesTheKeyOfTheFile) {
  EXPECT_EQ(GoodWith("", kMinimal + "preset: narrow\n").experiment.rollout.num_env_runners, 2u);
  EXPECT_EQ(GoodWith("plain", kMinimal + "preset: narrow\n").experiment.preset, "plain");
  EXPECT_EQ(GoodWith("", kMinimal + "preset: narrow\n", {"preset=plain"}).experiment.rollout.num_env_runners, 1u);
  EXPECT_FALSE(GoodWith("", kMinimal).experiment.preset);
}

TEST_F(PresetsTest, ItIsFoundNextToTheFileAboveItOrByPath) {
  Write("configs/ars/e.yaml", kMinimal);
  Write("configs/presets/near.yaml", "rollout: {num_env_runners: 6}\n");
  Write("elsewhere/mine.yaml", "rollout: {num_env_runners: 9}\n");
  const auto runners = [&](const std::string& name) {
    const LoadResult result = LoadExperiment(folder_ / "configs/ars/e.yaml", {{}, Lookup(), {name, {folder_ / "presets"}, {}}});
    return result.loaded ? result.loaded->experiment.rollout.num_env_runners : 0;
  };
  EXPECT_EQ(runners("near"), 6u);
  EXPECT_EQ(runners("narrow"), 2u);
  EXPECT_EQ(runners((folder_ / "elsewhere/mine.yaml").string()), 9u);
  EXPECT_EQ(GoodWith("", kMinimal + "preset: elsewhere/mine.yaml\n").experiment.preset, "mine");
}

TEST_F(PresetsTest, AutoChoosesByTheDeviceAndNotesWhy) {
  const auto chosen = [&] {
    const LoadedExperiment loaded = GoodWith("auto", kMinimal);
    EXPECT_THAT(loaded.notes, ElementsAre(HasSubstr("preset: " + loaded.experiment.preset.value_or("") + " (")));
    return loaded.notes.empty() ? "" : loaded.notes[0].substr(loaded.notes[0].find("), because ") + 11);
  };
  EXPECT_EQ(chosen(), "no GPU was found");
  device_ = {"Maker WIDE 9000 SXM", 40 * kGiB};
  EXPECT_EQ(chosen(), "the GPU is 'Maker WIDE 9000 SXM' with 40 GiB");
  EXPECT_EQ(GoodWith("auto", kMinimal).experiment.preset, "wide");
  device_ = {"Other", 80 * kGiB};
  EXPECT_EQ(
      chosen(),
      "the GPU is 'Other' with 80 GiB, for which there is no preset; the chosen preset is for any GPU with 36 GiB or more");
  device_ = {"Other", 8 * kGiB};
  EXPECT_EQ(GoodWith("auto", kMinimal).experiment.preset, "narrow");
  device_ = {"Other", 2 * kGiB};
  EXPECT_EQ(chosen(), "the GPU is 'Other' with 2 GiB, too little for every preset");
  EXPECT_EQ(GoodWith("auto", kMinimal).experiment.preset, "plain");
}

TEST_F(PresetsTest, EveryMistakeHasItsPlace) {
  EXPECT_THAT(ErrorWith("widee"), HasSubstr("unknown preset 'widee'; did you mean 'wide'?"));
  EXPECT_THAT(ErrorWith("", kMinimal + "preset: naro\n"), HasSubstr("e.yaml:5:9: error: unknown preset 'naro'"));
  EXPECT_THAT(ErrorWith("no/such.yaml"), HasSubstr("preset: cannot read 'no/such.yaml'"));
  Write("presets/bad.yaml", "learner: {options: {dir_chunk: 3}}\n");
  EXPECT_THAT(ErrorWith("bad"), HasSubstr("presets/bad.yaml:1:21: error: unknown path 'learner.options.dir_chunk'"));
  Write("presets/bad.yaml", "learner: {plugin: hopper}\n");
  EXPECT_THAT(ErrorWith("bad"), HasSubstr("'learner.plugin' cannot be in a preset"));
  Write("presets/bad.yaml", "device: {cores: 3}\n");
  EXPECT_THAT(ErrorWith("bad"), HasSubstr("device: expected 'gpu' or 'memory', got 'cores'"));
  Write("presets/bad.yaml", "for_learner: {hopper: {learner: {options: {dir_chunk: 3}}}}\n");
  EXPECT_TRUE(LoadWith("bad", kMinimal).errors.empty()) << "of a different learner";
}

}  // namespace
}  // namespace backplane
