// Identity, sweeps, presets and stages follow the scope of each key in the table.
#include <set>

#include "contract/schema.hpp"
#include "sweep/grammar.hpp"
#include "sweep/identity.hpp"
#include "sweep_fixture.hpp"

namespace backplane {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using Paths = std::set<std::string>;

class ScopeTest : public SweepTest {
 protected:
  ScopeTest() {
    Add(BP_KIND_LEARNER, "hiker", plugins_["climber"].options).file = Write("hiker.so", "hiker");
    Write("presets/other.yaml", "");
  }

  // A file in which a different value of the key is valid and has an effect.
  static std::string FileFor(const HostKey& key) {
    const bool of_speed = key.path == "report.precision" || key.path == "report.max_time";
    return MinimalFor(key) +
           (of_speed ? "report: {kind: parallel_efficiency, precision: 5%}\n" : "report: {kind: comparison}\n");
  }

  // "a: {b: {c: value}}" of a.b.c
  static std::string Nested(const HostKey& key) {
    std::string path = key.path, text = OtherValue(key);
    for (size_t dot; (dot = path.rfind('.')) != std::string::npos; path.resize(dot))
      text = "{" + path.substr(dot + 1) + ": " + text + "}";
    return path + ": " + text + "\n";
  }

  Plan PlanWith(const HostKey& key, const std::vector<std::string>& set) {
    PlanResult result = PlanText(FileFor(key), {}, set);
    for (const Diagnostic& d : result.errors) ADD_FAILURE() << Format(d);
    return result.plan.value_or(Plan{});
  }

  static bool Refused(const std::vector<std::string>& errors, const std::string& why) {
    return std::any_of(errors.begin(), errors.end(), [&](const auto& error) { return error.find(why) != std::string::npos; });
  }

  std::vector<std::string> ErrorsWithPreset(const std::string& preset) {
    Write("presets/p.yaml", preset);
    presets_.name = "p";
    const std::vector<std::string> errors = PlanErrors("");
    presets_.name = "";
    return errors;
  }
};

// docs/experiment-file.md lists the keys that a trial's name omits.
TEST_F(ScopeTest, KeysWithoutEffectOnNumbersAreListed) {
  Paths speed, batch;
  for (const HostKey& key : HostKeys()) {
    const std::string top = key.path.substr(0, key.path.find('.'));
    if (key.scope == Scope::kSpeed) speed.insert(top == "rollout" || top == "learner" ? key.path : top);
    if (key.scope == Scope::kBatch) batch.insert(top);
  }
  EXPECT_EQ(speed, (Paths{"checkpoint", "learner.python", "monitors", "resources", "rollout.pin_threads", "rollout.threads",
                          "rollout.workers"}));
  EXPECT_EQ(batch, (Paths{"base", "compare", "engine", "experiment", "on_failure", "output", "stages", "plugin_path", "preset",
                          "report", "schedule_budget", "stop_sweep", "sweep"}));
}

TEST_F(ScopeTest, ASectionHasTheScopeOfItsKeysIfTheyAgree) {
  EXPECT_EQ(ScopeAt("resources"), Scope::kSpeed);
  EXPECT_EQ(ScopeAt("report.balanced"), Scope::kBatch);
  EXPECT_EQ(ScopeAt("report.of_a_later_version"), Scope::kBatch);
  EXPECT_EQ(ScopeAt("learner.options.lr"), Scope::kIdentity);
  EXPECT_EQ(ScopeAt("monitors.0.options.period"), Scope::kSpeed);
  EXPECT_EQ(ScopeAt("rollout"), std::nullopt);
  EXPECT_EQ(ScopeAt("nothing.like_it"), std::nullopt);
}

// The seed changes the trial but not the point. Two keys with a different scope belong to the identity in part: the presence of
// a GPU, and the iterations to run. `report.timing` and `schedule_budget` decide whether and which budget belongs to it.
TEST_F(ScopeTest, OnlyKeysOfTheIdentityChangeThePoint) {
  Paths in_part;
  for (const HostKey& key : HostKeys()) {
    if (!key.recorded() || key.path.starts_with("learner.start_"))
      continue;  // needs a policy; tests/end_to_end/start_from_test.py
    SCOPED_TRACE(key.path);
    const Plan plain = PlanWith(key, {}), other = PlanWith(key, {key.path + "=" + OtherValue(key)});
    const bool changes = plain.points.at(0).id != other.points.at(0).id;
    const bool is_open = IsBudgetKey(key.path), is_part = key.path == "schedule_budget" || key.path == "report.timing";
    EXPECT_EQ(changes, is_part || (!key.canonical.empty() && !is_open));
    EXPECT_EQ(plain.trials.at(0).id != other.trials.at(0).id, changes || key.path == "seed");
    EXPECT_TRUE(changes || key.scope != Scope::kIdentity || key.path == "seed" || is_open);
    if (changes && key.scope != Scope::kIdentity) in_part.insert(key.path);
  }
  EXPECT_EQ(in_part, (Paths{"report.kind", "report.max_time", "report.precision", "report.timing", "resources.gpus",
                            "schedule_budget"}));
}

TEST_F(ScopeTest, SpeedKeysBelongToTheIdentityIfTheyAreSwept) {
  for (const HostKey& key : HostKeys()) {
    const Paths own = {key.path}, none;
    const bool has_files = key.path == "env.plugin" || key.path == "learner.plugin";
    EXPECT_EQ(LeftOutKeys(key.path), key.scope == Scope::kSpeed || has_files ? own : none) << key.path;
  }
}

TEST_F(ScopeTest, RejectsSweptBatchKeys) {
  for (const HostKey& key : HostKeys())
    EXPECT_EQ(WhyNoAxis(key.path).empty(), key.scope != Scope::kBatch && key.path != "seed") << key.path;
}

TEST_F(ScopeTest, RejectsBatchKeysInAStage) {
  for (const HostKey& key : HostKeys()) {
    if (!key.recorded()) continue;
    const auto errors = PlanErrors("stages: [{name: one}, {name: two, " + key.path + ": " + OtherValue(key) + "}]\n");
    EXPECT_EQ(Refused(errors, "cannot differ between stages"),
              key.scope == Scope::kBatch || key.path == "seed" || key.path == "learner.plugin" ||
                  key.path == "learner.command" || key.path == "learner.function")
        << key.path;
  }
}

TEST_F(ScopeTest, RejectsBatchKeysAndTheSubjectInAPreset) {
  for (const HostKey& key : HostKeys()) {
    if (!key.recorded()) continue;
    const bool subject = key.path == "seed" || key.path == "monitors" || key.path == "env.wrappers" ||
                         key.path.ends_with(".plugin") || key.of_command;
    EXPECT_EQ(Refused(ErrorsWithPreset(Nested(key)), "cannot be in a preset"), subject || key.scope == Scope::kBatch)
        << Nested(key);
  }
}

// The swept file's own batch keys would apply to all points.
TEST_F(ScopeTest, IgnoresBatchKeysOfASweptFile) {
  for (const HostKey& key : HostKeys()) {
    if (!key.recorded() || key.scope != Scope::kBatch) continue;
    Write("point.yaml", Nested(key));
    const Plan plan = GoodPlan("sweep: {files: [point.yaml]}\n"), plain = GoodPlan("");
    const auto value = [&](const Plan& of) { return key.get(key, of.Load(of.trials.at(0)).experiment); };
    // A file searches its own plugin path.
    EXPECT_EQ(value(plan) == value(plain), key.path != "plugin_path") << key.path;
  }
}

}  // namespace
}  // namespace backplane
