// What the trials of a plan are called beside each other, on a screen and in messages.
#pragma once

#include <string>
#include <vector>

#include "record/plan_line.hpp"

namespace backplane {

struct TrialNames {
  std::string heading = "trial";   // "num_env_runners x lr" where names are values alone: "2 x 0.1"
  std::vector<std::string> names;  // in the plan's order, without the dropped points; no two are alike
};

// Without what all names share. A point's own name stands before its axes, a seed last, where there are several. Of one axis
// the key stays: "lr=0.1".
TrialNames ShortTrialNames(const std::vector<PlanLine>& plan);

}  // namespace backplane
