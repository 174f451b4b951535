// The interval of a comparison that may stop after any of several looks: Welch's at one look is too narrow, because a
// comparison stops when the difference happens to be large.
#pragma once

#include <cstddef>

#include "statistics/difference.hpp"
#include "statistics/log_speed.hpp"

namespace backplane::statistics {

// The error per look such that z tests at `looks` looks of equal size have a total error of `alpha` (Pocock, 1977): 0.0158 for
// 5 looks at 0.05.
double ShareOfALook(size_t looks, double alpha);

// Repeated confidence interval (Jennison and Turnbull, 1989): covers the difference at every look in 95 % of cases, and so at
// the look at which the comparison stopped. `share`: two-sided error of this look.
Interval IntervalAt(const Difference& difference, double share);

}  // namespace backplane::statistics
