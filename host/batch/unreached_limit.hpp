// Budget limits that are never reached, because a different one ends the trial first.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "contract/experiment.hpp"
#include "contract/trial_check.hpp"

namespace backplane {

// A sentence per limit, with its place in `origin` of the experiment. Ignores limits whose last iteration is unknown, such as
// wall_time.
std::vector<std::string> UnreachedLimits(const BudgetConfig& budget, const std::map<std::string, std::string>& origin,
                                         const IterationSize& size);

}  // namespace backplane
