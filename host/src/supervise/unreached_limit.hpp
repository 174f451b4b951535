// A limit of the budget that is never reached, because another one ends the trial first.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "config/experiment.hpp"

namespace backplane {

// A sentence with the place of the limit, by `origin` of the experiment; empty where both can end the trial, or one of
// iterations and env_steps is not given.
std::string UnreachedLimit(const BudgetConfig& budget, const std::map<std::string, std::string>& origin,
                           uint64_t steps_of_iteration);

}  // namespace backplane
