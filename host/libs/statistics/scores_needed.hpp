// How many scores an effect of the size seen would take.
#pragma once

#include <cstddef>
#include <optional>

#include "statistics/difference.hpp"

namespace backplane::statistics {

// Share of all cases in which the difference is to be found.
inline constexpr double kPower = 0.8;

// Size of each sample at which a two-sided test at `alpha` finds a difference like this one of two samples of `n` in kPower of
// all cases (normal approximation; one more for Student's heavier tails). The same for blocks. Absent: no difference was seen,
// or it needs a million.
std::optional<size_t> ScoresNeeded(const Difference& seen, size_t n, double alpha);

}  // namespace backplane::statistics
