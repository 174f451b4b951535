// The limits of an experiment's budget, as trials record them.
#pragma once

#include "contract/experiment.hpp"
#include "record/trial_result.hpp"

namespace backplane {

inline Budget RecordedBudget(const BudgetConfig& budget) {
  return {budget.iterations, budget.env_steps, budget.episodes, budget.epochs, budget.wall_time_s};
}

// The budget that the learner's schedules read; absent: the trial's own.
inline std::optional<Budget> ScheduleBudgetOf(const Experiment& experiment) {
  if (!experiment.schedule_budget.is_object() || experiment.schedule_budget.empty()) return std::nullopt;
  return RecordOrNothing<Budget>(experiment.schedule_budget);
}

inline BudgetConfig ConfigOf(const Budget& budget) {
  return {budget.iterations, budget.env_steps, budget.episodes, budget.epochs, budget.wall_time_s};
}

}  // namespace backplane
