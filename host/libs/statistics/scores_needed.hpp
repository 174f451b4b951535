// The number of scores needed to detect an effect of the observed size.
#pragma once

#include <cstddef>
#include <optional>

#include "statistics/difference.hpp"

namespace backplane::statistics {

// Probability of detecting the effect.
inline constexpr double kPower = 0.8;

// The size per sample with which a two-sided test at `alpha` has power kPower for the observed difference between two samples
// of `n` (normal approximation, plus one for Student's heavier tails). The same for blocks. Absent if the difference is zero or
// a million scores are not enough.
std::optional<size_t> ScoresNeeded(const Difference& seen, size_t n, double alpha);

}  // namespace backplane::statistics
