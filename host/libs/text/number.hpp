// A measured number with its uncertainty; reports always show both.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace backplane {

struct Number {
  double value = 0;          // the mean; NaN: measured but not finite
  uint64_t n = 1;            // number of `of` in the mean
  std::string of;            // "seeds", "iterations", "episodes", "samples" (resource_series.hpp); empty: a single reading
  std::optional<double> sd;  // sample standard deviation; absent for n < 2
  std::optional<double> low, high;  // 95 % confidence interval of the mean (Student's t); absent for n < 2 and for samples
  std::optional<double> max, p95;   // only for a series of samples
  bool is_rate = false;             // never below zero: over seeds it has a log-scale interval
  bool is_time = false;             // never below zero: over seeds its interval is cut at 0
};

// A single reading.
inline Number Reading(double value) {
  Number number;
  number.value = value;
  return number;
}

// Requires at least one value. The second form is for a known mean, standard deviation and size.
Number Mean(const std::vector<double>& values, std::string of);
Number MeanOf(double mean, std::optional<double> sd, uint64_t n, std::string of);

// A measure of several trials: one trial keeps its own spread, more yield the mean over seeds. Absent if there is none. Rates
// above zero have a first-order log-scale interval around the mean, so no bound reaches zero. Time intervals are cut at zero
// instead, because on a log scale two seeds that differ by a third would reach up to six times their mean.
std::optional<Number> OverSeeds(const std::vector<Number>& of_trials);

// value / base x factor, base not 0. n is the smaller one. If both are positive and have intervals, the ratio's comes from
// their logarithms (statistics/log_speed.hpp), so that no bound is negative.
Number RatioOf(const Number& value, const Number& base, double factor = 1);

// Requires at least one value, sorted. Interpolates like NumPy's percentile (0 <= p <= 1).
double Quantile(const std::vector<double>& sorted, double p);

}  // namespace backplane
