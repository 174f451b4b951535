// Tests whether a change is above or below a limit. If it equals the limit, each side has an error of at most `alpha` over all
// looks.
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
  bool unconfirmed = false;              // the permutation test rejects but Welch's does not: no conclusion
  size_t looks = 0, n = 0;               // looks so far; values per sample (the smaller), or blocks
  std::optional<Difference> difference;  // between the change and the limit
};

struct LimitPlan {
  size_t n = 0;      // values per sample and look; 0: all of them in one look
  size_t looks = 1;  // maximum
  double alpha = 1 - kLevel;
  int deals = kDeals;  // for tests with several looks
  uint64_t seed = 0;
};

// Compares the mean of b with `factor` (> 0) times the mean of a: scales a and applies the group-sequential permutation test at
// 2 alpha, or a one-sided permutation test for one look. Scaling, unlike a shift, adapts a's spread to its mean. Welch's
// one-sided test of all values so far must agree if either sample has a spread. Uses as many looks as the values allow.
LimitTest TestScores(const std::vector<double>& a, const std::vector<double>& b, double factor, const LimitPlan& plan);

// Compares the ratio of b to a with `ratio` (> 0), in blocks A B B A: one-sided t tests, each look at alpha / looks
// (Bonferroni).
LimitTest TestBlocks(const std::vector<std::vector<Block>>& by_look, double ratio, const LimitPlan& plan);

}  // namespace backplane::statistics
