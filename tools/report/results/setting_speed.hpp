// Speeds of settings: one per seed, compared as ratios, with one spread for all settings of a machine. A setting has too few
// seeds for its own spread, and the machine disturbs all settings alike.
#pragma once

#include <optional>
#include <vector>

#include "results/parallel_efficiency.hpp"

namespace backplane {

// Pools the speeds of all settings in a group of machines for their means and intervals. With too few seeds in total, a single
// trial keeps its own interval, which covers only that run.
void MeasureSpeeds(const std::vector<ScoredSeries>& series, std::vector<Setting>* settings);

// SPS / SPS of `base` x factor. Both need a speed. Has an interval if there are enough seeds; a setting's ratio to itself is
// exact.
Number SpeedRatio(const Setting& setting, const Setting& base, double factor = 1);

// True if the interval of that ratio excludes 1.
bool IsShownFaster(const Setting& setting, const Setting& than);

}  // namespace backplane
