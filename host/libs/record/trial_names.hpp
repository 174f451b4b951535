// What the trials of a plan are called beside each other, on a screen and in messages.
#pragma once

#include <string>
#include <vector>

#include "record/plan_line.hpp"

namespace backplane {

// In the plan's order, without the dropped points; no two are alike. Without what all names share, each value with its axis:
// "before lr=0.1 num_epochs=3 seed=1". A point's own name stands first, and a seed last if there are several.
std::vector<std::string> ShortTrialNames(const std::vector<PlanLine>& plan);

}  // namespace backplane
