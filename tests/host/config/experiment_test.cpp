#include "config/experiment.hpp"

#include "config/schema.hpp"
#include "config_fixture.hpp"

namespace backplane {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ExperimentTest = ConfigTest;

// Another value than the default, for each type of the table.
std::string OtherValue(const HostKey& key) {
  switch (key.type) {
    case ValueType::kNumber: return "0.5";
    case ValueType::kInteger: return "17";
    case ValueType::kFlag: return "true";
    case ValueType::kDuration: return "1h30m";
    case ValueType::kSize: return "1.5GiB";
    case ValueType::kPathList: return "[/a, /b]";
    case ValueType::kMeasureList: return "[ep/length, train/loss]";
    case ValueType::kPluginName: return key.path == "env.plugin" ? "swimmer" : "hiker";
    case ValueType::kPluginOptions: return key.path == "learner.options" ? "{lr: 0.25}" : "{reward: 9.5}";
    case ValueType::kMonitors: return "[plotter]";
    case ValueType::kEnum: return "parallel_efficiency";
    case ValueType::kFailurePolicy: return "{retry: 7}";
    case ValueType::kFlapping: return "4 in 10s";
    case ValueType::kJson: return "{rollout.threads: 2}";
    default: return "other";
  }
}

TEST_F(ExperimentTest, EveryKeyCanBeSetAndSurvivesJson) {
  Add(BP_KIND_LEARNER, "hiker", plugins_["climber"].options);
  Add(BP_KIND_MONITOR, "plotter", {});
  Write("presets/other.yaml", "");
  const std::string file = kMinimal + "report: {kind: comparison}\n";  // the other keys of `report` need a kind
  json plain = ToJson(Good(file).experiment);
  int keys = 0;
  for (const HostKey& key : HostKeys()) {
    if (!key.set) continue;
    SCOPED_TRACE(key.path);
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

TEST_F(ExperimentTest, ASavedConfigurationIsAnExperimentFile) {
  json saved = ToJson(Good(kMinimal, {"budget.wall_time=1h", "resources.memory=4GB", "learner.options.data=d.csv"}).experiment);
  EXPECT_EQ(ToJson(Good(saved.dump(2)).experiment), saved);
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

TEST_F(ExperimentTest, AnotherShapeIsRefused) {
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
  EXPECT_THAT(refusal(less), HasSubstr("lacks 'env.plugin'"));
  EXPECT_THAT(refusal(other), HasSubstr("seed"));
  EXPECT_THAT(refusal(json::array()), HasSubstr("JSON object"));
}

TEST_F(ExperimentTest, AKeyWithADefaultMayBeMissingAsInWhatAnOlderProgramSaved) {
  const json saved = ToJson(Good(kMinimal).experiment);
  json older = saved;
  older["output"].erase("live");
  older["rollout"].erase("pin_threads");
  older.erase("stop_sweep");
  EXPECT_EQ(ToJson(ExperimentFromJson(older)), saved);
}

}  // namespace
}  // namespace backplane
