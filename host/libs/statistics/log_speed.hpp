// Rates that are compared as ratios: their spread is that of logarithms, one for all groups. No interval reaches zero.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace backplane::statistics {

// With fewer degrees of freedom the interval is wider than what it is to show.
inline constexpr size_t kLeastPooledDegrees = 4;

struct Interval {
  double low = 0, high = 0;
};

// One-way: what values differ by within their groups, whatever the groups' means.
struct PooledSpread {
  double sd = 0;  // of one logarithm
  size_t degrees_of_freedom = 0;
  bool is_enough() const { return degrees_of_freedom >= kLeastPooledDegrees; }
};
// Of groups of rates, all above zero; groups of one add nothing.
PooledSpread PoolLogs(const std::vector<std::vector<double>>& groups);

// exp of the mean logarithm. Of at least one rate.
double GeometricMean(const std::vector<double>& rates);

// How far the 95 % interval of the geometric mean reaches above it, in percent of it: by Student's t on the logarithms of these
// rates, all above zero. Absent for fewer than two.
std::optional<double> HalfWidthPct(const std::vector<double>& rates);

// 95 % interval of the geometric mean of `n` rates, and of the ratio of two such means. Absent where the spread is of too few,
// or of none that differ.
std::optional<Interval> RateInterval(double rate, size_t n, const PooledSpread& spread);
std::optional<Interval> RatioInterval(double ratio, size_t n, size_t n_base, const PooledSpread& spread);

// Of the ratio of two means above zero, each with its own spread and at least two values: Welch's on the logarithms, to first
// order. Absent where that is not given.
std::optional<Interval> RatioOfMeans(double mean, double sd, size_t n, double base, double base_sd, size_t n_base);

}  // namespace backplane::statistics
