// Selects and weights directions of augmented random search by the returns of their candidate pairs.
#pragma once

#include <cstdint>
#include <vector>

namespace backplane::ars {

struct Step {
  std::vector<int64_t> kept;    // directions, best first
  std::vector<double> weights;  // per kept direction, before the step size: (r+ - r-) / (kept * sigma)
  double sigma;                 // population deviation of the kept directions' returns; 0: no step, weights are 0
};

// Keeps exactly `top` directions, those with the largest max(r+, r-), the lower index first among equals. `returns` [2 *
// directions]: r+ and r- of each direction in turn.
Step TakeStep(const std::vector<double>& returns, int64_t top);

// Replaces numbers by their ranks, spread evenly over -1/2 to 1/2; ties get their mean rank, so that equal numbers give a zero
// step.
std::vector<double> CentredRanks(const std::vector<double>& values);

}  // namespace backplane::ars
