// Statistics of rates as ratios: one log-scale spread for all groups, so that no interval reaches zero.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace backplane::statistics {

// With fewer degrees of freedom the interval is too wide to be useful.
inline constexpr size_t kLeastPooledDegrees = 4;

struct Interval {
  double low = 0, high = 0;
};

// The spread within groups (one-way), independent of the groups' means.
struct PooledSpread {
  double sd = 0;  // of the logarithms
  size_t degrees_of_freedom = 0;
  bool is_enough() const { return degrees_of_freedom >= kLeastPooledDegrees; }
};
// All rates must be positive. Groups of one contribute nothing.
PooledSpread PoolLogs(const std::vector<std::vector<double>>& groups);

// exp of the mean logarithm. Requires at least one rate.
double GeometricMean(const std::vector<double>& rates);

// Distance of the upper 95 % bound from the geometric mean, in percent of the mean: Student's t on the logarithms of these
// positive rates. Absent for fewer than two.
std::optional<double> HalfWidthPct(const std::vector<double>& rates);

// 95 % intervals of the geometric mean of `n` rates, and of the ratio of two such means. Absent if the spread has too few
// degrees of freedom or is zero.
std::optional<Interval> RateInterval(double rate, size_t n, const PooledSpread& spread);
std::optional<Interval> RatioInterval(double ratio, size_t n, size_t n_base, const PooledSpread& spread);

// 95 % interval of the ratio of two positive means with separate spreads and at least two values each: Welch's interval on the
// logarithms, to first order. Absent otherwise.
std::optional<Interval> RatioOfMeans(double mean, double sd, size_t n, double base, double base_sd, size_t n_base);

}  // namespace backplane::statistics
