// The speeds of settings: one for each seed, compared as ratios, with one spread for all settings of a machine. A setting has
// too few seeds for a spread of its own, and what moves its speed, the machine, moves the others alike.
#pragma once

#include <optional>
#include <vector>

#include "results/parallel_efficiency.hpp"

namespace backplane {

// Pools the speeds of all settings of a group of machines, and gives each of them its mean and interval. With too few seeds in
// all a setting of one trial keeps that one's own interval, which is of this run.
void MeasureSpeeds(const std::vector<ScoredSeries>& series, std::vector<Setting>* settings);

// SPS / SPS of `base` x factor, both with a speed; its interval where there are seeds enough. Of a setting to itself it is
// exact.
Number SpeedRatio(const Setting& setting, const Setting& base, double factor = 1);

// Whether the interval of that ratio leaves out 1.
bool IsShownFaster(const Setting& setting, const Setting& than);

}  // namespace backplane
