// Whether two samples differ, judged by nothing but their own values dealt out anew: no distribution is assumed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace backplane::statistics {

// More ways than this are not all tried: kDeals random ones stand for them.
inline constexpr double kMostExact = 200'000;
inline constexpr int kDeals = 10'000;

enum class Tail { kBoth = 1, kUpper };

struct PermutationTest {
  double p = 1;
  uint64_t extreme = 0, deals = 0;  // of `deals`, `extreme` differ at least as much; the samples as they are count as one
  bool exact = true;                // every way was tried; else p = (extreme + 1) / (deals + 1) by Phipson and Smyth, 2010
};

// Of |mean of a - mean of b|, or with kUpper of mean of a - mean of b, over all ways to deal the values to two sides of these
// sizes. Of at least one value each. `seed` is for random deals.
PermutationTest UnpairedPermutation(const std::vector<double>& a, const std::vector<double>& b, uint64_t seed = 0,
                                    Tail tail = Tail::kBoth);

// The least p that samples of these sizes can have: 1 / C(n + m, n) and, for both tails of two of one size, 2 / C(2n, n): 3
// against 3 give 0.1, or 0.05 of one tail.
double LeastUnpairedP(size_t n, size_t m, Tail tail = Tail::kBoth);

// Holm's step-down: each p as if all were tested together, in the same order.
std::vector<double> HolmAdjusted(const std::vector<double>& p);

}  // namespace backplane::statistics
