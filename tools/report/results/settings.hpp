// The settings of a batch: groups of trials that share a configuration, with their speeds.
#pragma once

#include <vector>

#include "results/series.hpp"

namespace backplane {

// Sorted as in ParallelEfficiency::settings, without the values that need a baseline.
std::vector<Setting> GatherSettings(const Combined& combined, const SeriesOfTrials& series);

}  // namespace backplane
