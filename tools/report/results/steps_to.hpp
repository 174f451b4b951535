// Env steps until a curve of a trial reached a goal: steps_to(eval/return, 475), and reached(eval/return, 475).
#pragma once

#include "record/goal.hpp"
#include "results/result_set.hpp"

namespace backplane {

// Adds both measures. A trial that did not reach the goal has the env steps of its end, up to which it was observed. If
// budget.until names the metric, its number of evaluations in a row counts here, too. Does nothing without a curve.
void AddStepsTo(Goal goal, TrialData* trial);

}  // namespace backplane
