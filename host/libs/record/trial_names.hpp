// Short names for the trials of a plan, for screens and messages.
#pragma once

#include <string>
#include <vector>

#include "record/plan_line.hpp"

namespace backplane {

// Unique names in the plan's order, without dropped points and without what all names share. Each value has its axis: "before
// lr=0.1 num_epochs=3 seed=1". The point's own name is first; the seed is last if there are several.
std::vector<std::string> ShortTrialNames(const std::vector<PlanLine>& plan);

}  // namespace backplane
