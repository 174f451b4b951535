// What one trial that ran out of memory says of larger ones.
#pragma once

#include <vector>

#include "supervise/schedule.hpp"
#include "sweep/plan.hpp"

namespace backplane {

// Trials that the plan wants and that need at least as much memory as one that did not fit: an earlier session may have ended
// before it drew the conclusion, or the plan may be larger now.
struct Inferred {
  size_t trial, from;  // places in the plan
};
std::vector<Inferred> InferInfeasible(const Plan& plan, const Schedule& schedule);

}  // namespace backplane
