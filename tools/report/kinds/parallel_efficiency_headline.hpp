// The answer of a parallel-efficiency experiment in one sentence.
#pragma once

#include <string>
#include <vector>

#include "results/parallel_efficiency.hpp"

namespace backplane {

// "2 x 2 is 1.94 ± 0.13 times as fast as 1 x 1 (18,020 ± 410 steps/s).", or the missing data.
std::string ParallelEfficiencyHeadline(const ParallelEfficiency& analysis);

// The settings of its series that are not shown to be slower than the fastest.
std::vector<std::string> AsFastAs(const Setting& fastest, const ParallelEfficiency& analysis);

}  // namespace backplane
