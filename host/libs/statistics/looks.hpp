// A comparison over several looks with two tests: the group-sequential one decides, and Welch's must agree.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "statistics/difference.hpp"
#include "statistics/sequential.hpp"

namespace backplane::statistics {

struct LooksTaken {
  size_t looks = 0, n = 0;               // looks, and scores of each arm in them
  bool told_apart = false;               // by the group-sequential test, at this look or before
  bool confirmed = false;                // Welch's test of all these scores agrees, or both arms have zero spread
  bool first_is_more = false;            // in the test that decides
  std::optional<Difference> difference;  // Welch's, a less b
};

// Takes looks of `n` scores until both tests agree that the arms differ, or no look is left. The error is at most `plan.alpha`:
// scores after the first rejection can only confirm it. `share`: two-sided error of Welch's test. `least_without_spread`:
// minimum looks for arms with zero spread, because few equal scores hide an outcome of one trial in ten.
LooksTaken TakeLooks(const std::vector<double>& a, const std::vector<double>& b, size_t n,
                     const GroupSequentialTest::Plan& plan, double share = 1 - kLevel, size_t least_without_spread = 1);

}  // namespace backplane::statistics
