// Whether two means are as good as equal: that no difference was shown does not say so.
#pragma once

#include <optional>
#include <vector>

#include "statistics/difference.hpp"

namespace backplane::statistics {

struct Equivalence {
  double p = 1;              // the larger of both one-sided tests
  double low = 0, high = 0;  // 90 % interval of the difference; inside of the margin where p < 0.05
  bool shown() const;
};

// Two one-sided t tests (Schuirmann, 1987) of a difference (Welch's, paired, or of blocks) against -margin and +margin, margin
// > 0.
Equivalence TwoOneSided(const Difference& difference, double margin);

}  // namespace backplane::statistics
