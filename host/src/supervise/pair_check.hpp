// Which pairs of env and learner a plan holds: each is tried once, in a process of its own, before anything is trained.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sweep/plan.hpp"

namespace backplane {

// Trials with the same env plugin and the same learner plugin, by place in the plan; the first one stands for them all.
std::map<std::string, std::vector<size_t>> PairsOf(const Plan& plan);

}  // namespace backplane
