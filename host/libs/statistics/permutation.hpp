// Permutation tests: compare two samples without assuming a distribution.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace backplane::statistics {

// Above this number of permutations, kDeals random ones are drawn instead.
inline constexpr double kMostExact = 200'000;
inline constexpr int kDeals = 10'000;

enum class Tail { kBoth = 1, kUpper };

struct PermutationTest {
  double p = 1;
  uint64_t extreme = 0, deals = 0;  // `extreme` of `deals`, the observed one included, differ as much or more
  bool exact = true;                // all counted; else p = (extreme + 1) / (deals + 1) by Phipson and Smyth, 2010
};

// Tests |mean of a - mean of b|, or with kUpper mean of a - mean of b, over all assignments of the values to sides of these
// sizes. Both need at least one value. `seed` is for random permutations. With two different values, as of solved and unsolved
// runs, all permutations are counted by Fisher's formula for any size up to about 28 a side.
PermutationTest UnpairedPermutation(const std::vector<double>& a, const std::vector<double>& b, uint64_t seed = 0,
                                    Tail tail = Tail::kBoth);

// True if the values of both sides are at most two different ones. Welch's p is too small for
// such scores.
bool AreOfTwoValues(const std::vector<double>& a, const std::vector<double>& b);

// The smallest possible p for these sizes: 1 / C(n + m, n), or 2 / C(2n, n) for two tails of equal sizes. For 3 against 3 it is
// 0.1, with one tail 0.05.
double LeastUnpairedP(size_t n, size_t m, Tail tail = Tail::kBoth);

// Holm's step-down adjustment for testing all p together; keeps the order.
std::vector<double> HolmAdjusted(const std::vector<double>& p);

}  // namespace backplane::statistics
