// How two samples differ, and what is known of it.
#pragma once

#include <optional>
#include <vector>

namespace backplane::statistics {

struct Difference {
  double value = 0;  // mean of a less mean of b
  double standard_error = 0;
  double degrees_of_freedom = 0;  // of what follows
  double t = 0, p = 1;            // two-sided
  double low = 0, high = 0;       // 95 % interval of the difference
};

// Welch's, for samples that need not have the same spread. Absent: one of them has fewer than two values, or neither has a
// spread, so that nothing says how far chance moves them.
std::optional<Difference> WelchDifference(const std::vector<double>& a, const std::vector<double>& b);

// Of pairs in order, such as the same seed on both sides. Absent as above, and where the sizes differ.
std::optional<Difference> PairedDifference(const std::vector<double>& a, const std::vector<double>& b);

// Of differences, one of each pair. Absent for fewer than two, and without a spread.
std::optional<Difference> MeanDifference(const std::vector<double>& differences);

// The share of pairs (one of a, one of b) in which a is larger; equal ones count half. Of at least one value each.
double ProbabilityGreater(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace backplane::statistics
