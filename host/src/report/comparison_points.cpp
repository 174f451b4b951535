#include "report/comparison_points.hpp"

#include <fmt/format.h>

#include <map>

#include "base/json_text.hpp"
#include "report/sections.hpp"

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

std::optional<json> ValueIn(const TrialData& trial, const std::string& name) {
  if (const Number* number = trial.Find(name)) return json(number->value);
  const json value = trial.At(name);
  if (value.is_null()) return std::nullopt;
  return value;
}

std::optional<json> EvaluateIn(const TrialData& trial, const Expression& expression) {
  try {
    return expression.Evaluate([&](const std::string& name, std::string* why_not) {
      std::optional<json> value = ValueIn(trial, name);
      if (!value) *why_not = "not measured";
      return value;
    });
  } catch (const NoValue&) {
    return std::nullopt;
  }
}

std::optional<Number> MeasureOf(const Combined& combined, const ComparedPoint& point, const Expression& expression) {
  std::vector<Number> numbers;
  for (size_t t : point.trials) {
    const TrialData& trial = combined.trials[t].data;
    const std::optional<json> value = trial.usable() ? EvaluateIn(trial, expression) : std::nullopt;
    if (!value || !value->is_number()) continue;
    const Number* own = trial.Find(expression.text());
    numbers.push_back(own ? *own : Reading(value->get<double>()));
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
