// Recommends settings: the fastest, the most efficient, and the fastest that leaves resources free.
#pragma once

#include <vector>

#include "results/parallel_efficiency.hpp"

namespace backplane {

// Throughput, efficiency, balanced: for the series at this index, whose settings are scored.
std::vector<Recommendation> Recommend(const ParallelEfficiency& analysis, size_t series, const Combined& combined,
                                      const BalancedLimits& balanced);

}  // namespace backplane
