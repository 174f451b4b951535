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
// Without what only a data set has.
bp_limits Limits(const BudgetConfig& budget, const Spent& spent, uint64_t rows, uint64_t chunk_rows);

}  // namespace backplane
