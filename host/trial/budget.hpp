// Ends a trial at the first limit that it reaches.
#pragma once

#include <string>

#include "backplane/learner.h"
#include "contract/experiment.hpp"

namespace backplane {

struct Spent {
  uint64_t iterations = 0, env_steps = 0;
  double seconds = 0;
  double epochs = 0;
};

// Used share of the budget, 0 to 1: the maximum over all given limits.
double Progress(const BudgetConfig& budget, const Spent& spent);
bool Reached(const BudgetConfig& budget, const Spent& spent);
inline constexpr double kStopPatience_s = 10;  // for running work after a stop; a supervisor kills a trial after 30 s
// Seconds that running work may still take after budget.wall_time is over.
double PatienceAfter(double wall_time_s);
// The deadline (NowNs) of work that starts now. kPatienceAtLeast: the end of budget.wall_time, but at least one patience from
// now. kPatienceAfterBudget: one patience after that end. Never if there is no budget.wall_time.
enum class Deadline { kPatienceAtLeast = 1, kPatienceAfterBudget };
int64_t DeadlineOf(const BudgetConfig& budget, const Spent& spent, Deadline which);
// Without the limits of a data set.
bp_limits Limits(const BudgetConfig& budget, const Spent& spent, uint64_t rows, uint64_t chunk_rows);

}  // namespace backplane
