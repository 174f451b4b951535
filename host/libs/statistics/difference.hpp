// The difference between two samples, with its uncertainty.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace backplane::statistics {

struct Difference {
  double value = 0;  // mean of a minus mean of b
  double standard_error = 0;
  double degrees_of_freedom = 0;  // of the t statistic
  double t = 0, p = 1;            // two-sided
  double low = 0, high = 0;       // 95 % interval of the difference
};

// Welch's test, for samples of unequal variance. Absent if one sample has fewer than two values or both have zero spread,
// because the size of random variation is unknown then.
std::optional<Difference> WelchDifference(const std::vector<double>& a, const std::vector<double>& b);

// The same test for a difference of two estimates with these standard errors, each from `n` values.
std::optional<Difference> WelchOfErrors(double difference, double error_a, size_t n_a, double error_b, size_t n_b);

// For ordered pairs, such as equal seeds on both sides. Absent under the same conditions and for unequal sizes.
std::optional<Difference> PairedDifference(const std::vector<double>& a, const std::vector<double>& b);

// `differences` has one value per pair. Absent for fewer than two or zero spread.
std::optional<Difference> MeanDifference(const std::vector<double>& differences);

// The share of pairs (one from a, one from b) in which a is larger; ties count half. Both need at least one value.
double ProbabilityGreater(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace backplane::statistics
