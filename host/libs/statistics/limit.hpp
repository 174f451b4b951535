// On which side of a limit a change lies, or that this is not known: tests of which each side is wrong with at most `alpha`
// where the change is the limit itself, however often they look.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "statistics/blocks.hpp"
#include "statistics/difference.hpp"
#include "statistics/permutation.hpp"
#include "statistics/student.hpp"

namespace backplane::statistics {

enum class Side { kNotShown = 1, kBelow, kAbove };

struct LimitTest {
  Side side = Side::kNotShown;
  bool unconfirmed = false;              // the permutation test names a side, Welch's does not: nothing is concluded
  size_t looks = 0, n = 0;               // that were taken; values of each sample in them (the fewer), or blocks
  std::optional<Difference> difference;  // of the change from the limit
};

struct LimitPlan {
  size_t n = 0;      // values of each sample in a look; 0: all there are, in one look
  size_t looks = 1;  // at most
  double alpha = 1 - kLevel;
  int deals = kDeals;  // of a test with several looks
  uint64_t seed = 0;
};

// The mean of b against `factor` (> 0) times that of a: the values of a are multiplied by it, and b's differ from them by the
// group-sequential permutation test at 2 alpha (one look: by the permutation test of one side). Multiplied, as adding would
// leave a's spread too wide for its mean. Welch's one-sided test of all values so far has to say the same, where either sample
// has a spread. Takes as many looks as there are values for.
LimitTest TestScores(const std::vector<double>& a, const std::vector<double>& b, double factor, const LimitPlan& plan);

// The ratio of b to a against `ratio` (> 0), in blocks A B B A: one-sided t tests, each look at alpha / looks (Bonferroni).
LimitTest TestBlocks(const std::vector<std::vector<Block>>& by_look, double ratio, const LimitPlan& plan);

}  // namespace backplane::statistics
