#include "kinds/comparison_points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/json_text.hpp"

namespace backplane {

using nlohmann::json;

std::vector<ComparedPoint> PointsOf(const Combined& combined) {
  std::vector<ComparedPoint> points;
  std::map<std::pair<size_t, std::string>, size_t> at;
  for (size_t i = 0; i < combined.trials.size(); ++i) {
    const CombinedTrial& trial = combined.trials[i];
    const auto [found, added] = at.try_emplace({trial.group, trial.data.point_id}, points.size());
    const std::string label =
        combined.groups.size() > 1 ? fmt::format(" ({})", combined.groups[trial.group].label) : std::string();
    if (added) points.push_back({PointName(trial.data) + label, trial.group, {}});
    points[found->second].trials.push_back(i);
  }
  return points;
}

namespace {

// As EvaluateIn, with `value` where the trial has another one under that name.
std::optional<json> EvaluateWith(const TrialData& trial, const Expression& expression, const std::string& measure,
                                 const double* value) {
  try {
    return expression.Evaluate([&](const std::string& name, std::string* why_not) {
      std::optional<json> found = value && name == measure ? json(*value) : ValueIn(trial, name);
      if (!found) *why_not = "not measured";
      return found;
    });
  } catch (const NoValue&) {
    return std::nullopt;
  }
}

}  // namespace

std::optional<json> ValueIn(const TrialData& trial, const std::string& name) {
  if (const Number* number = trial.Find(name)) return json(number->value);
  json value = trial.At(name);
  if (value.is_null()) return std::nullopt;
  return value;
}

std::optional<json> EvaluateIn(const TrialData& trial, const Expression& expression) {
  return EvaluateWith(trial, expression, {}, nullptr);
}

namespace {

std::set<std::string> MeasuresIn(const TrialData& trial, const Expression& expression) {
  std::set<std::string> measures;
  for (const std::string& name : expression.paths()) {
    if (trial.Find(name)) measures.insert(name);
  }
  return measures;
}

// `value` with the spread of the only measure in the expression, if the expression is a straight line through it.
Number WithSpread(const TrialData& trial, const Expression& expression, double value) {
  Number number = Reading(value);
  const std::set<std::string> measures = MeasuresIn(trial, expression);
  if (measures.size() != 1) return number;
  const std::string& name = *measures.begin();
  const Number& own = *trial.Find(name);
  if (name == expression.text()) return own;
  if (!own.low || !own.high) return number;
  const auto at = [&](double end) {
    const std::optional<json> found = EvaluateWith(trial, expression, name, &end);
    return found && found->is_number() ? found->get<double>() : std::nan("");
  };
  const double low = at(*own.low), high = at(*own.high), width = *own.high - *own.low;
  const bool straight = std::abs(low + high - 2 * value) <= 1e-9 * (std::abs(high - low) + std::abs(value));
  if (!std::isfinite(low) || !std::isfinite(high) || !straight || (width > 0 && low == high)) return number;
  number.n = own.n;
  number.of = own.of;
  number.low = std::min(low, high);
  number.high = std::max(low, high);
  if (own.sd) number.sd = width > 0 ? *own.sd * (*number.high - *number.low) / width : 0;
  return number;
}

}  // namespace

std::optional<Number> MeasureOf(const Combined& combined, const ComparedPoint& point, const Expression& expression) {
  std::vector<Number> numbers;
  for (size_t t : point.trials) {
    const TrialData& trial = combined.trials[t].data;
    const std::optional<json> value = trial.usable() ? EvaluateIn(trial, expression) : std::nullopt;
    if (!value || !value->is_number()) continue;
    numbers.push_back(WithSpread(trial, expression, value->get<double>()));
  }
  return OverSeeds(numbers);
}

std::optional<std::string> WordsOf(const Combined& combined, const ComparedPoint& point, const Expression& expression) {
  std::optional<json> common;
  for (size_t t : point.trials) {
    const std::optional<json> value = EvaluateIn(combined.trials[t].data, expression);
    if (!value || value->is_null()) continue;
    if (value->is_number() || (common && *common != *value)) return std::nullopt;
    common = value;
  }
  if (!common) return std::nullopt;
  return common->is_string() ? common->get<std::string>() : JsonText(*common);
}

}  // namespace backplane
