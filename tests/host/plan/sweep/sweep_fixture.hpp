// A small language for tests of sweeps: lines appended to a valid experiment, and the resulting plan.
#pragma once

#include <algorithm>

#include "../config/config_fixture.hpp"
#include "sweep/plan.hpp"

namespace backplane {

class SweepTest : public ConfigTest {
 protected:
  SweepTest() {
    OptionInfo workers = Option("num_workers", BP_PARAM_I64, {});
    workers.aliases = {"rollout.num_env_runners"};
    plugins_["climber"].options.push_back(Option("micro", BP_PARAM_I64, "1", "[1,)"));
    plugins_["climber"].options.push_back(Option("accum", BP_PARAM_I64, "1", "[1,)"));
    plugins_["climber"].options.push_back(workers);
    Add(BP_KIND_LEARNER, "hopper", {Option("sigma", BP_PARAM_F64, "0.1", "(0,)")});
    OptionInfo steps = Option("steps", BP_PARAM_I64, {}, "[1,)");
    steps.flags = BP_PARAM_REQUIRED;
    Add(BP_KIND_LEARNER, "strict", {steps, Option("size", BP_PARAM_I64, "8")});
    Add(BP_KIND_MONITOR, "plotter", {Option("period", BP_PARAM_F64, "1")});
    for (auto& [name, info] : plugins_) info.file = Write(name + ".so", name);
  }

  PlanResult PlanText(const std::string& text, std::vector<std::string> sweep = {}, std::vector<std::string> set = {}) {
    PlanOptions options{std::move(set), std::move(sweep), Lookup(), presets_, defaults_};
    options.schema = schema_;
    return MakePlan(Write("e.yaml", text), options);
  }

  PresetSearch presets_;      // for plans made later
  KeyDefaults defaults_;      // for plans made later
  int schema_ = kPlanSchema;  // for plans made later; with 2, the budget belongs to each identity

  // The plan of a valid experiment with these lines appended.
  Plan GoodPlan(const std::string& lines, std::vector<std::string> sweep = {}, std::vector<std::string> set = {}) {
    PlanResult result = PlanText(kMinimal + lines, std::move(sweep), std::move(set));
    for (const Diagnostic& d : result.errors) ADD_FAILURE() << Format(d);
    return result.plan.value_or(Plan{});
  }

  // "5:8 message" for each error; an override has no line, so its text appears instead. The lines begin at line 5.
  std::vector<std::string> PlanErrors(const std::string& lines, std::vector<std::string> sweep = {},
                                      std::vector<std::string> set = {}) {
    PlanResult result = PlanText(kMinimal + lines, std::move(sweep), std::move(set));
    EXPECT_EQ(result.plan.has_value(), result.errors.empty());
    std::vector<std::string> errors;
    for (const Diagnostic& d : result.errors) {
      std::string place = d.line ? std::to_string(d.line) + ":" + std::to_string(d.column) : d.file + " " + d.source_line;
      errors.push_back(place + " " + d.message);
    }
    return errors;
  }

  static std::vector<std::string> Names(const Plan& plan) {
    std::vector<std::string> names;
    for (const PlannedPoint& point : plan.points) names.push_back(point.name);
    return names;
  }

  static std::vector<std::string> Ids(const Plan& plan) {
    std::vector<std::string> ids;
    for (const PlannedTrial& trial : plan.trials) ids.push_back(trial.id);
    return ids;
  }

  static std::vector<uint64_t> SeedsOf(const Plan& plan) {
    std::vector<uint64_t> seeds;
    for (const PlannedTrial& trial : plan.trials) seeds.push_back(trial.seed);
    return seeds;
  }

  // The value of each point at `path`, in order.
  static std::vector<nlohmann::json> ValuesAt(const Plan& plan, const std::string& path) {
    std::vector<nlohmann::json> values;
    for (const PlannedPoint& point : plan.points) {
      for (const auto& [at, value] : point.values) {
        if (at == path) values.push_back(value);
      }
    }
    return values;
  }

  static size_t DroppedBy(const Plan& plan, const std::string& rule) {
    return static_cast<size_t>(
        std::count_if(plan.dropped.begin(), plan.dropped.end(), [&](const DroppedPoint& p) { return p.rule == rule; }));
  }
};

}  // namespace backplane
