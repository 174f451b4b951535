// When a trial ends: the first limit that is reached.
#pragma once

#include <string>

#include "backplane/learner.h"
#include "config/experiment.hpp"

namespace backplane {

struct Spent {
  uint64_t iterations = 0, env_steps = 0;
  double seconds = 0;
  double epochs = 0;
};

// Share of the budget used, 0 to 1: the largest over all limits given.
double Progress(const BudgetConfig& budget, const Spent& spent);
bool Reached(const BudgetConfig& budget, const Spent& spent);
// How long what runs when budget.wall_time is over may take to come to its end.
double PatienceAfter(double wall_time_s);
// When something that starts now and may take long has to end (NowNs): when budget.wall_time is over, and not before it had that
// patience; `after_budget`: that much after it. No budget.wall_time: never.
enum class Deadline { kPatienceAtLeast = 1, kPatienceAfterBudget };
int64_t DeadlineOf(const BudgetConfig& budget, const Spent& spent, Deadline which);
// Without what only a data set has.
bp_limits Limits(const BudgetConfig& budget, const Spent& spent, uint64_t rows, uint64_t chunk_rows);

}  // namespace backplane
