// The settings of a batch: groups of trials that share a configuration, with their speeds.
#pragma once

#include <vector>

#include "results/series.hpp"

namespace backplane {

// Sorted as ParallelEfficiency::settings wants them, without what a baseline is needed for.
std::vector<Setting> GatherSettings(const Combined& combined, const SeriesOfTrials& series);

}  // namespace backplane
