// Confidence intervals for any statistic of several trials: Efron's percentile bootstrap within strata.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "statistics/log_speed.hpp"
#include "statistics/robust.hpp"

namespace backplane::statistics {

// With fewer scores the interval is too narrow: for 3, 5 and 10 normal scores it covers the mean in 77, 83 and 89 % of cases.
inline constexpr size_t kLeastToBootstrap = 10;
inline constexpr int kRepeats = 50'000, kRepeatsOfProfiles = 2'000;

// Resamples every stratum (the scores of one arm on one task) with replacement and returns the 2.5th and 97.5th percentile of
// `figure`. Deterministic for a given seed. Absent if no stratum has two scores; a zero width means that the scores are equal
// within each stratum.
std::optional<Interval> StratifiedBootstrap(const Tasks& strata, const std::function<double(const Tasks&)>& figure,
                                            uint64_t seed, int repeats = kRepeats);

// The confidence band of PerformanceProfile.
std::optional<std::vector<Interval>> ProfileBand(const Tasks& tasks, const std::vector<double>& thresholds, uint64_t seed);

// The `q` quantile (0 to 1), interpolated linearly (NumPy's default).
double Quantile(std::vector<double> values, double q);

}  // namespace backplane::statistics
