#include "sweep/goal_measures.hpp"

#include <fmt/format.h>

#include <vector>

#include "base/json_fields.hpp"
#include "record/report_check.hpp"

namespace backplane {
namespace {

using nlohmann::json;

std::vector<json> OneOrMany(const json& entry) {
  return entry.is_array() ? entry.get<std::vector<json>>() : std::vector<json>{entry};
}

}  // namespace

void CheckGoalMeasures(const Plan& plan, const MeasureMarks& marks, Errors* errors) {
  if (plan.search && plan.search->Prunes() && GoalOfMeasure(plan.search->metric))
    errors->Add(
        plan.search->pruner_mark,
        fmt::format("sweep.search.pruner: expected none for {}, which is unknown while a trial runs", plan.search->metric),
        ErrorCode::kOther, "pruner: none");
  const std::optional<Goal>& until = plan.base.experiment.budget.until;
  if (!until) return;
  const auto check = [&](const Mark& mark, const char* key, const std::string& metric) {
    if (const std::string why = WhyNotComparable(*until, metric); !why.empty())
      errors->Add(mark, fmt::format("{}: {}", key, why), ErrorCode::kOther, "metric: " + until->StepsMeasure());
  };
  if (plan.search) check(plan.search->metric_mark, kSearchMetric, plan.search->metric);
  if (plan.compare && plan.compare->metric) check(marks.compare, kComparedMetric, *plan.compare->metric);
  for (const json& select : OneOrMany(plan.base.experiment.report.select))
    if (const std::string metric = Text(At(select, "metric")); !metric.empty())
      check(marks.select, "report.select.metric", metric);
}

}  // namespace backplane
