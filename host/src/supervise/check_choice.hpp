// Which trials of a plan are asked for before the first one starts, so that planning stays quick however many points there are.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sweep/plan.hpp"

namespace backplane {

inline constexpr size_t kAllPoints = 64, kMostPoints = 256;

// Of `trials`, places in the plan: the first of each point if there are at most kAllPoints points. Of more, those of
// `sweep.list` and those that have a value of an axis or a pair of env and learner which none before has, kMostPoints at most.
std::vector<size_t> TrialsToCheck(const Plan& plan, const std::vector<size_t>& trials);

// Equal for trials with the same env plugin and the same learner plugin.
std::string PairOf(const Plan& plan, const PlannedTrial& trial);

}  // namespace backplane
