#include "statistics/sample.hpp"

#include <algorithm>

namespace backplane::statistics {

Sample Summarise(const std::vector<double>& values) {
  Sample sample;
  sample.n = values.size();
  const double size = static_cast<double>(sample.n);
  // The mean of equal values is exactly that value: rounding would give some of them a variance, and so a verdict.
  if (std::all_of(values.begin(), values.end(), [&](double value) { return value == values.front(); })) {
    sample.mean = values.front();
    return sample;
  }
  for (const double value : values) sample.mean += value / size;
  for (const double value : values) sample.variance += (value - sample.mean) * (value - sample.mean) / (size - 1);
  return sample;
}

}  // namespace backplane::statistics
