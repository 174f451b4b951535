#include "contract/experiment.hpp"

#include "config_fixture.hpp"
#include "contract/schema.hpp"

namespace backplane {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ExperimentTest = ConfigTest;

TEST_F(ExperimentTest, EveryKeyCanBeSetAndSurvivesJson) {
  Add(BP_KIND_LEARNER, "hiker", plugins_["climber"].options);
  Add(BP_KIND_MONITOR, "plotter", {});
  Write("presets/other.yaml", "");
  // The other keys of `report` need a kind, and two of them this one.
  const std::string report = "report: {kind: comparison}\n", speed = kMinimal + "report: {kind: parallel_efficiency}\n";
  int keys = 0;
  for (const HostKey& key : HostKeys()) {
    if (!key.set) continue;
    SCOPED_TRACE(key.path);
    const bool of_speed = key.path == "report.precision" || key.path == "report.max_time";
    const std::string file = of_speed ? speed : MinimalFor(key) + report;
    const json plain = ToJson(Good(file).experiment);
    Experiment experiment = Good(file, {key.path + "=" + OtherValue(key)}).experiment;
    json saved = ToJson(experiment);
    EXPECT_NE(saved, plain);
    EXPECT_EQ(ToJson(ExperimentFromJson(saved)), saved);
    EXPECT_EQ(ToJson(ExperimentFromJson(json::parse(saved.dump()))), saved);
    ++keys;
  }
  EXPECT_GT(keys, 25);
}

TEST_F(ExperimentTest, TheTablesDefaultsAreTheStructs) {
  json saved = ToJson(Good(kMinimal).experiment), fresh = ToJson(Experiment{});
  for (const char* section : {"rollout", "evaluation", "checkpoint", "resources", "report", "on_failure", "stop_sweep", "seed"})
    EXPECT_EQ(saved[section], fresh[section]);
  EXPECT_EQ(saved["output"]["dir"], "outputs/first");
}

TEST_F(ExperimentTest, ABestCheckpointHasAShortForm) {
  const std::string file = kMinimal + "evaluation: {episodes: 3, every_iterations: 5}\n";
  const auto best_of = [&](const LoadedExperiment& loaded) { return ToJson(loaded.experiment)["checkpoint"]["best"]; };
  const json of_return = {{"metric", "eval/return"}, {"direction", nullptr}};
  EXPECT_EQ(best_of(Good(file + "checkpoint: {keep: 3, best: eval/return}\n")), of_return);
  EXPECT_EQ(best_of(Good(file, {"checkpoint.best=eval/return"})), of_return);
  EXPECT_EQ(best_of(Good(file, {"checkpoint={keep: 3, best: eval/return}"})), of_return);
  const LoadedExperiment down = Good(file + "checkpoint: {best: {metric: eval/loss, direction: minimize}}\n");
  EXPECT_EQ(down.experiment.checkpoint.best.Direction(), -1);
  EXPECT_FALSE(Good(file + "checkpoint: {best: null}\n").experiment.checkpoint.best.metric);
  EXPECT_EQ(Good(kMinimal).experiment.checkpoint.keep, 2u);
}

TEST_F(ExperimentTest, ASavedConfigurationIsAnExperimentFile) {
  json saved = ToJson(Good(kMinimal, {"budget.wall_time=1h", "resources.memory=4GB", "learner.options.data=d.csv"}).experiment);
  EXPECT_EQ(ToJson(Good(saved.dump(2)).experiment), saved);
}

TEST_F(ExperimentTest, ASavedTrialByCommandIsAnExperimentFileToo) {
  const json saved =
      ToJson(Good("experiment: first\nlearner: {command: [program, \"{lr}\", \"{{}}\"], options: {lr: 0.5}}\n").experiment);
  EXPECT_TRUE(saved["env"]["plugin"].is_null());
  EXPECT_EQ(ToJson(Good(saved.dump(2)).experiment), saved);
  EXPECT_EQ(ToJson(ExperimentFromJson(saved)), saved);
}

TEST_F(ExperimentTest, OmitsCommandKeysForPlugins) {
  const json saved = ToJson(Good(kMinimal).experiment);
  for (const HostKey& key : HostKeys())
    EXPECT_FALSE(key.of_command && saved["learner"].contains(key.path.substr(8))) << key.path;
}

TEST_F(ExperimentTest, PoliciesAreTyped) {
  Experiment e = Good(kMinimal + "on_failure: {device_oom: shrink, temp: {retry: 5}}\nstop_sweep: {flapping: 0}\n").experiment;
  EXPECT_EQ(e.on_failure.device_oom.action, FailureAction::kShrink);
  EXPECT_EQ(e.on_failure.host_oom.action, FailureAction::kInfeasible);
  EXPECT_EQ(e.on_failure.temp.retries, 5u);
  EXPECT_EQ(e.on_failure.timeout.action, FailureAction::kKeepPartial);
  EXPECT_EQ(e.stop_sweep.flapping.failures, 0u);
  EXPECT_EQ(Good(kMinimal + "stop_sweep: {flapping: 2 in 1m30s}\n").experiment.stop_sweep.flapping.window_s, 90);
}

TEST_F(ExperimentTest, AReportThatComparesTimesMakesTrialsExclusive) {
  auto exclusive = [&](const std::string& lines) { return Good(kMinimal + lines).experiment.resources.exclusive; };
  EXPECT_FALSE(exclusive(""));
  EXPECT_FALSE(exclusive("report: {kind: comparison}\n"));
  EXPECT_TRUE(exclusive("report: {kind: comparison, timing: true}\n"));
  EXPECT_TRUE(exclusive("report: {kind: parallel_efficiency}\n"));
  EXPECT_FALSE(exclusive("report: {kind: parallel_efficiency}\nresources: {exclusive: false}\n"));
  EXPECT_TRUE(exclusive("resources: {exclusive: true}\n"));
}

TEST_F(ExperimentTest, PrecisionIsOnIfSpeedHasNoBudget) {
  const std::string none = "experiment: a\nenv: {plugin: walker}\nlearner: {plugin: climber}\n";
  const std::string measured = "report: {kind: parallel_efficiency}\n";
  const auto report = [&](const std::string& text, const std::vector<std::string>& set = {}) {
    return Good(text, set).experiment.report;
  };
  EXPECT_EQ(report(none + measured).precision_pct, 5);
  EXPECT_EQ(report(none + measured).max_time_s, 20);
  EXPECT_EQ(report(none + measured + "budget: {}\n").precision_pct, 5);
  EXPECT_EQ(report(none + "report: {kind: parallel_efficiency, max_time: 8s}\n").max_time_s, 8);
  EXPECT_EQ(report(none + measured, {"report.precision=2%"}).precision_pct, 2);
  EXPECT_EQ(report(none + measured, {"report.precision=2%"}).max_time_s, 20);
  // A budget overrides the precision.
  EXPECT_FALSE(report(kMinimal + measured).precision_pct);
  EXPECT_FALSE(report(none + measured, {"budget.iterations=3"}).precision_pct);
  EXPECT_FALSE(report(none + "report: {kind: parallel_efficiency, max_time: 8s}\nbudget: {wall_time: 5s}\n").precision_pct);
  EXPECT_EQ(report(kMinimal + "report: {kind: parallel_efficiency, precision: 1%}\n").precision_pct, 1);
  EXPECT_EQ(report(kMinimal + "report: {kind: parallel_efficiency, precision: 1%}\n").max_time_s, 20);
}

TEST_F(ExperimentTest, AConfigurationThatWasSavedBeforeAKeyWasThereIsRead) {
  json saved = ToJson(Good(kMinimal).experiment);
  saved["report"].erase("precision");
  saved["report"].erase("timing");
  EXPECT_FALSE(ExperimentFromJson(saved).report.precision_pct);
  EXPECT_FALSE(ExperimentFromJson(saved).report.timing);
  saved.erase("experiment");
  EXPECT_THROW(ExperimentFromJson(saved), std::runtime_error);
}

TEST_F(ExperimentTest, LargeNumbersAndFractionsSurvive) {
  Experiment experiment = Good(kMinimal).experiment;
  experiment.seed = UINT64_MAX;
  experiment.resources.memory_bytes = UINT64_MAX;
  experiment.budget.wall_time_s = 1.0 / 3;
  Experiment back = ExperimentFromJson(json::parse(ToJson(experiment).dump()));
  EXPECT_EQ(back.seed, UINT64_MAX);
  EXPECT_EQ(back.resources.memory_bytes, UINT64_MAX);
  EXPECT_EQ(back.budget.wall_time_s, 1.0 / 3);
}

TEST_F(ExperimentTest, RejectsADifferentShape) {
  json saved = ToJson(Good(kMinimal).experiment);
  auto refusal = [](const json& document) {
    try {
      ExperimentFromJson(document);
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  json more = saved, less = saved, other = saved;
  more["rollout"]["speed"] = 1;
  less["env"].erase("plugin");
  other["seed"] = "x";
  EXPECT_THAT(refusal(more), HasSubstr("unknown key 'rollout.speed'"));
  EXPECT_THAT(refusal(less), HasSubstr("missing key 'env.plugin'"));
  EXPECT_THAT(refusal(other), HasSubstr("seed"));
  EXPECT_THAT(refusal(json::array()), HasSubstr("JSON object"));
}

TEST_F(ExperimentTest, AKeyWithADefaultMayBeMissingAsFromAnOlderProgram) {
  const json saved = ToJson(Good(kMinimal).experiment);
  json older = saved;
  older["output"].erase("live");
  older["rollout"].erase("pin_threads");
  older.erase("stop_sweep");
  EXPECT_EQ(ToJson(ExperimentFromJson(older)), saved);
}

}  // namespace
}  // namespace backplane
