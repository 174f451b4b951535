// The times of trials to reach a goal, for tests and for sentences.
#pragma once

#include <string>
#include <vector>

#include "statistics/log_rank.hpp"
#include "text/number.hpp"

namespace backplane {

// Env steps of trials, and whether each reached the goal.
statistics::Arrivals ArrivalsOf(const std::vector<double>& steps, const std::vector<char>& reached);

// The restricted mean with its interval; a single trial has none. Requires at least one.
Number MeanSteps(const statistics::Arrivals& arm, double horizon);

// "; 2 never reached it within 200,000": of all arms together; empty: all trials reached it.
std::string NeverReached(const std::vector<statistics::Arrivals>& arms);

}  // namespace backplane
