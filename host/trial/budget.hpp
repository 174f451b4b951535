// When a trial ends: the first limit that is reached.
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

// Share of the budget used, 0 to 1: the largest over all limits given.
double Progress(const BudgetConfig& budget, const Spent& spent);
bool Reached(const BudgetConfig& budget, const Spent& spent);
inline constexpr double kStopPatience_s = 10;  // for running work after a stop; a supervisor kills a trial after 30 s
// Seconds that running work may still take after budget.wall_time is over.
double PatienceAfter(double wall_time_s);
// The time (NowNs) at which work that starts now has to end. kPatienceAtLeast: at the end of budget.wall_time, and after one
// patience at the earliest. kPatienceAfterBudget: one patience after that end. Never if there is no budget.wall_time.
enum class Deadline { kPatienceAtLeast = 1, kPatienceAfterBudget };
int64_t DeadlineOf(const BudgetConfig& budget, const Spent& spent, Deadline which);
// Without what only a data set has.
bp_limits Limits(const BudgetConfig& budget, const Spent& spent, uint64_t rows, uint64_t chunk_rows);

}  // namespace backplane
