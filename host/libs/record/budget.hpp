// The limits of a trial in plan.jsonl and result.json, and the end that they set.
#pragma once

#include <cstdint>
#include <optional>

#include "record/iteration.hpp"
#include "record/trial_result.hpp"

namespace backplane {

// Used parts of a budget.
struct Reach {
  uint64_t iterations = 0, env_steps = 0, episodes = 0;
  double epochs = 0, seconds = 0;
};

bool Reached(const Budget& budget, const Reach& reach);
// At the end of the iteration, and at the end of the attempt.
Reach ReachOf(const Iteration& line);
Reach ReachOf(const TrialResult& result);

// True if the trial completed because its own budget was used up, and `budget` is not. A monitor, a failure or the learner
// may have ended it earlier; then a larger budget changes nothing.
bool Extends(const Budget& budget, const TrialResult& result);

}  // namespace backplane
