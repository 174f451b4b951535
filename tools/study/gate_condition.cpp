#include "study/gate_condition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/json_path.hpp"
#include "base/suggest.hpp"
#include "expression/expression.hpp"
#include "record/compare_terms.hpp"
#include "record/goal.hpp"
#include "text/units.hpp"

namespace backplane {
namespace {

constexpr double kMostPercent = 1000;

std::string Trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(' '), last = text.find_last_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

// ParsePercent accepts no sign.
std::optional<double> SignedPercent(std::string text) {
  const double sign = text.starts_with('-') ? -1 : 1;
  if (text.starts_with('-') || text.starts_with('+')) text.erase(0, 1);
  std::erase(text, ' ');
  const std::optional<double> percent = ParsePercent(text);
  return percent ? std::optional(sign * *percent) : std::nullopt;
}

}  // namespace

std::string ReadGateCondition(const std::string& text, GateCondition* condition) {
  const auto wrong = [&](size_t at, const std::string& wanted, const std::string& found) {
    return fmt::format("--fail-if '{}': column {}: expected {}, got {}", text, at + 1, wanted, found);
  };
  const size_t sign = text.find_last_of("<>");
  if (sign == std::string::npos) return wrong(text.size(), "'<' or '>' after a measure, such as 'eval/return < -5%'", "none");
  condition->below = text[sign] == '<';
  condition->measure = Trimmed(text.substr(0, sign));
  if (condition->measure.empty())
    return wrong(0, fmt::format("a measure before '{}', such as eval/return", text[sign]), "none");
  const std::string limit = Trimmed(text.substr(sign + 1));
  const std::optional<double> percent = SignedPercent(limit);
  const size_t at = std::min(text.find_first_not_of(' ', sign + 1), text.size());
  if (!percent)
    return wrong(at, fmt::format("a percentage of the baseline after '{}', such as -5%", text[sign]),
                 limit.empty() ? "none" : "'" + limit + "'");
  if (!(*percent > -100) || *percent > kMostPercent)
    return wrong(at, fmt::format("a percentage above -100 and up to {:g}", kMostPercent), "'" + limit + "'");
  condition->percent = *percent;
  condition->speed = IsOfSpeed(condition->measure);
  try {
    const std::vector<std::string> names = Expression::OfMeasures(condition->measure).paths();
    const auto of_speed = std::ranges::find_if(names, [](const std::string& name) { return IsOfSpeed(name); });
    if (!condition->speed && of_speed != names.end())
      return wrong(text.find(*of_speed), "a speed without other measures, because its baseline runs again",
                   "'" + condition->measure + "'");
  } catch (const NoValue& error) {
    return wrong(text.find_first_not_of(' ') + error.offset, "a measure or an expression of measures",
                 "'" + condition->measure + "': " + error.why);
  }
  return "";
}

std::string WhyNotMeasured(const GateCondition& condition, const GateBaseline& baseline) {
  const std::optional<Goal> until = GoalOfConfig(baseline.config);
  if (const std::string why = until && !condition.speed ? WhyNotComparable(*until, condition.measure) : ""; !why.empty())
    return fmt::format("--fail-if '{}': {}\nhint: --fail-if '{} > 5%'", condition.measure, why, until->StepsMeasure());
  std::set<std::string> known;
  for (const TrialMeasures& trial : baseline.trials)
    for (const auto& [name, value] : trial.values) known.insert(name);
  const std::vector<std::string> names = Expression::OfMeasures(condition.measure).paths();
  for (const std::string& name : names) {
    if (known.contains(name) || !AtPath(baseline.config, name).is_null()) continue;
    return fmt::format("--fail-if: no seed of the baseline recorded '{}'{}", name,
                       DidYouMean(Nearest(name, Candidates({known.begin(), known.end()}))));
  }
  if (std::ranges::any_of(names, [&](const std::string& name) { return known.contains(name); })) return "";
  return fmt::format("--fail-if: '{}': expected a measure of a run, such as eval/return, got {}", condition.measure,
                     names.empty() ? "only numbers" : "only values of the experiment file");
}

}  // namespace backplane
