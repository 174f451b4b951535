// What a step of augmented random search makes of the returns of its pairs of candidates: which directions count, and how much.
#pragma once

#include <cstdint>
#include <vector>

namespace backplane::ars {

struct Step {
  std::vector<int64_t> kept;    // directions, the best first
  std::vector<double> weights;  // of each kept direction in the step, before the step size: (r+ - r-) / (kept * sigma)
  double sigma;                 // population deviation of the kept directions' returns; 0: there is no step, weights are 0
};

// Keeps exactly `top` directions, those with the largest max(r+, r-); of equal ones the lower index. `returns` [2 *
// directions]: r+ and r- of each direction in turn.
Step TakeStep(const std::vector<double>& returns, int64_t top);

// Numbers replaced by their ranks, spread evenly over -1/2 to 1/2; equal numbers get the mean of their ranks, so that a step is
// 0 where nothing differs.
std::vector<double> CentredRanks(const std::vector<double>& values);

}  // namespace backplane::ars
