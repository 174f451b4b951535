// Limits of the budget that are never reached, because another one ends the trial first.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "contract/experiment.hpp"
#include "contract/trial_check.hpp"

namespace backplane {

// A sentence for each, with the place of the limit by `origin` of the experiment. Of a limit of which it can not be known in
// which iteration it ends the trial nothing is said, as of wall_time.
std::vector<std::string> UnreachedLimits(const BudgetConfig& budget, const std::map<std::string, std::string>& origin,
                                         const IterationSize& size);

}  // namespace backplane
