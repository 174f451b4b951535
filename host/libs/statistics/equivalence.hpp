// Tests whether two means are practically equal; a non-significant difference does not show that.
#pragma once

#include <optional>
#include <vector>

#include "statistics/difference.hpp"

namespace backplane::statistics {

struct Equivalence {
  double p = 1;              // the larger p of the two one-sided tests
  double low = 0, high = 0;  // 90 % interval of the difference; within the margin if p < 0.05
  bool shown() const;
};

// Two one-sided t tests (Schuirmann, 1987) of a difference (Welch's, paired, or between blocks) against -margin and +margin,
// margin > 0.
Equivalence TwoOneSided(const Difference& difference, double margin);

}  // namespace backplane::statistics
