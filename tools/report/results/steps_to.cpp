#include "results/steps_to.hpp"

#include <utility>

namespace backplane {
namespace {

// The direction of a metric and the number of its evaluations in a row, as this trial has them.
Goal AsIn(const TrialData& trial, Goal goal) {
  const auto registered = trial.registered.find(goal.metric);
  if (registered != trial.registered.end() && registered->second.direction < 0) goal.direction = -1;
  if (const std::optional<Goal> until = GoalOfConfig(trial.config); until && until->metric == goal.metric) {
    goal.direction = until->direction;
    goal.in_a_row = until->in_a_row;
  }
  return goal;
}

}  // namespace

void AddStepsTo(Goal goal, TrialData* trial) {
  const auto curve = trial->curves.find(goal.metric);
  const Number* end = trial->Find("env_steps");
  if (curve == trial->curves.end() || curve->second.empty() || end == nullptr) return;
  GoalCount count(AsIn(*trial, std::move(goal)));
  Number steps = Reading(end->value);
  steps.is_time = true;
  for (const CurvePoint& point : curve->second) {
    if (!count.Add(point.value)) continue;
    steps.value = point.env_steps;
    break;
  }
  trial->measures[count.goal().StepsMeasure()] = steps;
  trial->measures[count.goal().ReachedMeasure()] = Reading(count.reached() ? 1 : 0);
}

}  // namespace backplane
