#include "sweep/plan_lines.hpp"

#include "record/trial_names.hpp"

namespace backplane {

std::vector<PlanLine> PlanLines(const Plan& plan) {
  std::vector<PlanLine> lines;
  for (const PlannedTrial& trial : plan.trials) {
    const PlannedPoint& point = plan.points.at(trial.point);
    PlanLine line;
    line.values = point.values;
    line.trial_id = trial.id;
    line.point_id = point.id;
    line.name = point.name;
    line.seed = trial.seed;
    line.files = trial.files;
    line.stage = point.stage;
    line.after = plan.IdBefore(trial);
    line.number = point.number;
    line.confirms = trial.confirms;
    line.why = point.why;
    line.budget = point.budget;
    line.schedule_budget = point.schedule_budget;
    lines.push_back(std::move(line));
  }
  for (const DroppedPoint& point : plan.dropped) {
    PlanLine line;
    line.values = point.values;
    line.dropped = true;
    line.rule = point.rule;
    line.why = point.why;
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<std::string> DisplayNames(const Plan& plan) { return ShortTrialNames(PlanLines(plan)); }

}  // namespace backplane
