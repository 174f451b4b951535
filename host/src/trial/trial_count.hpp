// How far a trial is, with the attempts before this one.
#pragma once

#include <cstdint>
#include <optional>

#include "record/checkpoint_header.hpp"
#include "trial/budget.hpp"

namespace backplane {

struct TrialCount {
  bool first_warms_up = false;    // the trial measures speed
  uint64_t iterations = 0;        // without the one that warms up
  uint64_t env_steps = 0;         // with its steps
  std::optional<WarmUp> warm_up;  // since it has ended

  // The next iteration to end, or the one that runs, is number 0, which warms up.
  bool warms_up() const { return first_warms_up && !warm_up; }
  uint64_t open_iteration() const { return warms_up() ? 0 : iterations + 1; }
  // Of the budget; `seconds` and `epochs` are those of the whole trial.
  Spent SpentOfBudget(double seconds, double epochs) const {
    if (warms_up()) return {};
    const WarmUp before = warm_up.value_or(WarmUp{});
    return {iterations, env_steps - before.env_steps, seconds - before.seconds, epochs - before.epochs};
  }
};

}  // namespace backplane
