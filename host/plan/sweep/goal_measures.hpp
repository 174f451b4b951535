// Rejects measures that cannot compare trials that end at a goal (budget.until).
#pragma once

#include "sweep/plan.hpp"
#include "yaml/errors.hpp"

namespace backplane {

// Places in the file.
struct MeasureMarks {
  Mark compare, select;
};

// Of `compare:`, report.select and sweep.search. Also rejects a pruner that would need steps_to of a running trial.
void CheckGoalMeasures(const Plan& plan, const MeasureMarks& marks, Errors* errors);

}  // namespace backplane
