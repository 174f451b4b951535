// Independent values of one thing, and what is kept of them.
#pragma once

#include <cstddef>
#include <vector>

namespace backplane::statistics {

struct Sample {
  size_t n = 0;
  double mean = 0;
  double variance = 0;  // of n - 1; 0 for fewer than two values
};

// Of at least one value, all finite.
Sample Summarise(const std::vector<double>& values);

}  // namespace backplane::statistics
