#include "results/reduction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "base/suggest.hpp"
#include "record/finite_tail.hpp"
#include "results/step_reduction.hpp"
#include "results/steps_to.hpp"

namespace backplane {
namespace {

using Curve = std::vector<CurvePoint>;

const char* const kSecondsOfIterations = "iteration_s";

const Curve* CurveOf(const TrialData& trial, const std::string& name) {
  const auto found = trial.curves.find(name);
  return found == trial.curves.end() || found->second.empty() ? nullptr : &found->second;
}

std::vector<double> ValuesOf(const Curve& curve) {
  std::vector<double> values;
  for (const CurvePoint& point : curve) values.push_back(point.value);
  return values;
}

// Without warm-up iterations, unless there are no others.
std::vector<double> SteadyValuesOf(const Curve& curve) {
  std::vector<double> values;
  for (const CurvePoint& point : curve)
    if (!point.warms_up) values.push_back(point.value);
  return values.empty() ? ValuesOf(curve) : values;
}

std::vector<double> Finite(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  return values;
}

std::optional<Number> Percentile(std::vector<double> values, double p) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  return Reading(Quantile(values, p));
}

double Sum(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

// The ratio of sums, with the spread of single iterations.
std::optional<Number> PerSecond(const TrialData& trial, const Curve& curve) {
  const Curve* seconds = CurveOf(trial, kSecondsOfIterations);
  if (seconds == nullptr) return std::nullopt;
  const bool all = std::all_of(seconds->begin(), seconds->end(), [](const CurvePoint& point) { return point.warms_up; });
  std::map<uint64_t, double> lasted;
  for (const CurvePoint& point : *seconds)
    if (all || !point.warms_up) lasted[point.iteration] = point.value;
  double amount = 0, time = 0;
  std::vector<double> rates;
  for (const CurvePoint& point : curve) {
    const auto found = lasted.find(point.iteration);
    if (found == lasted.end() || !(found->second > 0)) continue;
    amount += point.value;
    time += found->second;
    rates.push_back(point.value / found->second);
  }
  if (rates.empty()) return std::nullopt;
  return MeanOf(amount / time, Mean(rates, "").sd, rates.size(), "iterations");
}

std::optional<double> Best(const Curve& curve, bool lowest) {
  const std::vector<double> values = Finite(ValuesOf(curve));
  if (values.empty()) return std::nullopt;
  return lowest ? *std::min_element(values.begin(), values.end()) : *std::max_element(values.begin(), values.end());
}

std::optional<Number> MaybeReading(const std::optional<double>& value) {
  return value ? std::optional(Reading(*value)) : std::nullopt;
}

// Per group, the worst of the completed trials' best values: all of them reached it.
std::map<size_t, double> CommonTargets(const Combined& combined, const std::string& name, bool lowest) {
  std::map<size_t, double> targets;
  for (const CombinedTrial& trial : combined.trials) {
    const Curve* curve = trial.data.state == TrialState::kCompleted ? CurveOf(trial.data, name) : nullptr;
    const std::optional<double> best = curve != nullptr ? Best(*curve, lowest) : std::nullopt;
    if (!best) continue;
    const auto [target, added] = targets.emplace(trial.group, *best);
    target->second = lowest ? std::max(target->second, *best) : std::min(target->second, *best);
  }
  return targets;
}

std::optional<Number> Until(const TrialData& trial, const Curve& curve, double target, bool lowest, const std::string& what) {
  const auto reached = std::find_if(curve.begin(), curve.end(), [&](const CurvePoint& point) {
    return lowest ? point.value <= target : point.value >= target;
  });
  if (reached == curve.end()) return std::nullopt;
  if (what == "iterations") return Reading(static_cast<double>(reached->iteration));
  if (what == "steps") return Reading(reached->env_steps);
  const Curve* seconds = CurveOf(trial, kSecondsOfIterations);
  if (seconds == nullptr) return std::nullopt;
  double sum = 0;
  for (const CurvePoint& point : *seconds)
    if (point.iteration <= reached->iteration) sum += point.value;
  return Reading(sum);
}

// Reduces one trial's non-empty curve.
using Reduce = std::optional<Number> (*)(const TrialData&, const Curve&);

const std::map<std::string, Reduce>& Reductions() {
  static const std::map<std::string, Reduce> kAll = {
      {"first", [](const TrialData&, const Curve& c) { return std::optional(Reading(c.front().value)); }},
      {"last", [](const TrialData&, const Curve& c) { return std::optional(Reading(c.back().value)); }},
      {"min", [](const TrialData&, const Curve& c) { return MaybeReading(Best(c, true)); }},
      {"max", [](const TrialData&, const Curve& c) { return MaybeReading(Best(c, false)); }},
      {"sum", [](const TrialData&, const Curve& c) { return std::optional(Reading(Sum(ValuesOf(c)))); }},
      {"mean", [](const TrialData&, const Curve& c) { return std::optional(Mean(SteadyValuesOf(c), "iterations")); }},
      {"p50", [](const TrialData&, const Curve& c) { return Percentile(SteadyValuesOf(c), 0.5); }},
      {"p95", [](const TrialData&, const Curve& c) { return Percentile(SteadyValuesOf(c), 0.95); }},
      {"per_s", PerSecond},
  };
  return kAll;
}

Curve FinitePartOf(const Curve& curve) {
  Curve finite;
  std::copy_if(curve.begin(), curve.end(), std::back_inserter(finite),
               [](const CurvePoint& point) { return std::isfinite(point.value); });
  return finite;
}

// Reductions that depend on a curve's end, or on all of it.
bool IsSpoiltByDivergence(const std::string& how) {
  return how == "last" || how == "mean" || how == "sum" || how == "per_s" || how == "area" || how.starts_with("mean:");
}

bool HasDiverged(const Curve& curve) {
  FiniteTail tail;
  for (const CurvePoint& point : curve) tail.Add(point.value);
  return tail.diverged();
}

const char* const kUntil[] = {"iterations", "steps", "seconds"};

// "seconds_to_min": the counted unit, and the direction.
struct Wait {
  std::string what;
  bool lowest;
};

std::optional<Wait> WaitOf(const std::string& how) {
  for (const std::string what : kUntil) {
    if (how == what + "_to_min") return Wait{what, true};
    if (how == what + "_to_max") return Wait{what, false};
  }
  return std::nullopt;
}

std::vector<std::string> AllNames() {
  std::vector<std::string> names;
  for (const auto& [name, reduce] : Reductions()) names.push_back(name);
  for (const std::string what : kUntil)
    for (const char* end : {"_to_min", "_to_max"}) names.push_back(what + end);
  names.insert(names.end(), {"mean:10%", "step:1e6", "area"});
  return names;
}

}  // namespace

std::optional<ReducedName> SplitReducedName(std::string_view name) {
  const size_t at = name.rfind('@');
  if (at == std::string_view::npos) return std::nullopt;
  return ReducedName{std::string(name.substr(0, at)), std::string(name.substr(at + 1))};
}

std::optional<std::string> WhyNoReduction(std::string_view name) {
  const auto split = SplitReducedName(name);
  if (!split || Reductions().contains(split->how) || WaitOf(split->how) || StepReduction::Of(split->how)) return std::nullopt;
  const std::vector<std::string> known = AllNames();
  return fmt::format("'{}': '@{}' is none of @{}{}", name, split->how, fmt::join(known, ", @"),
                     DidYouMean(Nearest(split->how, Candidates(known))));
}

bool IsWait(const std::string& how) { return WaitOf(how).has_value(); }

std::string UnitAfter(const std::string& how, const std::string& unit) {
  if (how == "per_s") return unit.empty() ? "1/s" : unit + "/s";
  const std::optional<Wait> wait = WaitOf(how);
  return !wait ? unit : wait->what == "seconds" ? "s" : "";
}

void AddReductions(const std::vector<std::string>& names, Combined* combined) {
  for (const std::string& name : names) {
    if (const std::optional<Goal> goal = GoalOfMeasure(name))
      for (CombinedTrial& trial : combined->trials) AddStepsTo(*goal, &trial.data);
    const auto split = SplitReducedName(name);
    if (!split) continue;
    const std::optional<Wait> wait = WaitOf(split->how);
    const auto targets = wait ? CommonTargets(*combined, split->curve, wait->lowest) : std::map<size_t, double>();
    const auto reduce = Reductions().find(split->how);
    std::optional<StepReduction> by_steps = StepReduction::Of(split->how);
    if (by_steps) by_steps->FindCommonSteps(*combined, split->curve);
    for (CombinedTrial& trial : combined->trials) {
      const Curve* curve = CurveOf(trial.data, split->curve);
      if (curve == nullptr) continue;
      const Curve finite = FinitePartOf(*curve);
      if (finite.empty()) continue;
      std::optional<Number> number;
      if (reduce != Reductions().end()) number = reduce->second(trial.data, finite);
      if (by_steps) number = MaybeReading(by_steps->Value(finite, trial.group));
      if (IsSpoiltByDivergence(split->how) && HasDiverged(*curve)) number = Reading(std::nan(""));
      if (const auto target = targets.find(trial.group); target != targets.end())
        number = Until(trial.data, finite, target->second, wait->lowest, wait->what);
      if (number) trial.data.measures[name] = *number;
    }
  }
}

}  // namespace backplane
