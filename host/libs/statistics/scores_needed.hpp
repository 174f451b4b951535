// How many scores an effect of the size seen would take.
#pragma once

#include <cstddef>
#include <optional>

#include "statistics/difference.hpp"

namespace backplane::statistics {

// Of each sample, with which a difference like this one of two samples of `n` is found in 80 % of all cases by a two-sided test
// at `alpha` (normal approximation; one more for Student's heavier tails). Of blocks likewise. Absent: none was seen, or it
// would take a million.
std::optional<size_t> ScoresNeeded(const Difference& seen, size_t n, double alpha);

}  // namespace backplane::statistics
