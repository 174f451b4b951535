// A measured number and what is known of its uncertainty: no report shows one without the other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace backplane {

struct Number {
  double value = 0;          // the mean; NaN: it was measured and is not finite
  uint64_t n = 1;            // of how many `of` it is the mean
  std::string of;            // "seeds", "iterations", "episodes", "samples" (resource_series.hpp); empty: a single reading
  std::optional<double> sd;  // sample standard deviation; absent for n < 2
  std::optional<double> low, high;  // 95 % confidence interval of the mean (Student's t); absent for n < 2, and of samples
  std::optional<double> max, p95;   // of a series of samples only
  bool is_rate = false;             // never below zero: over seeds its interval is that of the logarithms
  bool is_time = false;             // never below zero: over seeds its interval ends there
};

// A number that was read once.
inline Number Reading(double value) {
  Number number;
  number.value = value;
  return number;
}

// Of at least one value. For a sample whose mean, standard deviation and size are known already there is the second form.
Number Mean(const std::vector<double>& values, std::string of);
Number MeanOf(double mean, std::optional<double> sd, uint64_t n, std::string of);

// A measure of several trials: of one trial with that one's own spread, of more their mean over seeds. Absent if there is none.
// Of rates above zero no bound reaches zero: to first order the interval is that of the logarithms, around the mean. Of times
// it is cut at zero: by logarithms two seeds that differ by a third would reach up to six times their mean.
std::optional<Number> OverSeeds(const std::vector<Number>& of_trials);

// value / base x factor, base not 0. Its n is the smaller one; its interval, where both are above zero and have one, comes from
// their logarithms (statistics/log_speed.hpp), so that no bound of it is negative.
Number RatioOf(const Number& value, const Number& base, double factor = 1);

// Of at least one value, sorted: between the two around it, as NumPy's percentile (0 <= p <= 1).
double Quantile(const std::vector<double>& sorted, double p);

}  // namespace backplane
