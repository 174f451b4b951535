// The share of successes in independent trials.
#pragma once

#include <cstddef>

#include "statistics/log_speed.hpp"

namespace backplane::statistics {

// The exact 95 % interval (Clopper and Pearson) of the probability of success. Requires n > 0 and successes <= n.
Interval ExactProportion(size_t successes, size_t n);

}  // namespace backplane::statistics
