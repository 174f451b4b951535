// Summary of independent values.
#pragma once

#include <cstddef>
#include <vector>

namespace backplane::statistics {

struct Sample {
  size_t n = 0;
  double mean = 0;
  double variance = 0;  // with n - 1; 0 for fewer than two values
};

// Requires at least one value, all finite.
Sample Summarise(const std::vector<double>& values);

}  // namespace backplane::statistics
