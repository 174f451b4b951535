#include "statistics/permutation.hpp"

#include <algorithm>
#include <boost/math/special_functions/binomial.hpp>
#include <cmath>
#include <numeric>

#include "backplane/rng.h"
#include "statistics/deal.hpp"

namespace backplane::statistics {
namespace {

constexpr double kMostCounted = 9e15;  // exact in a double

double Ways(size_t n, size_t m) {
  return boost::math::binomial_coefficient<double>(static_cast<unsigned>(n + m), static_cast<unsigned>(n));
}

// Fisher's exact test: of all ways to deal `high` larger values and the rest, those that differ as much.
PermutationTest TestOfTwoValues(const std::vector<double>& a, const std::vector<double>& b, Tail tail) {
  const double larger = std::max(std::ranges::max(a), std::ranges::max(b));
  const auto n = static_cast<int64_t>(a.size()), m = static_cast<int64_t>(b.size());
  const int64_t seen = std::ranges::count(a, larger), high = seen + std::ranges::count(b, larger);
  const auto difference = [&](int64_t in_a) { return in_a * m - (high - in_a) * n; };
  PermutationTest out{.deals = static_cast<uint64_t>(Ways(a.size(), b.size()))};
  for (int64_t in_a = std::max<int64_t>(0, high - m); in_a <= std::min(high, n); ++in_a) {
    const bool extreme =
        tail == Tail::kUpper ? difference(in_a) >= difference(seen) : std::abs(difference(in_a)) >= std::abs(difference(seen));
    const auto others = static_cast<size_t>(n - in_a), low = static_cast<size_t>(n + m - high);
    if (extreme)
      out.extreme +=
          static_cast<uint64_t>(Ways(static_cast<size_t>(in_a), static_cast<size_t>(high - in_a)) * Ways(others, low - others));
  }
  out.p = static_cast<double>(out.extreme) / static_cast<double>(out.deals);
  return out;
}

}  // namespace

PermutationTest UnpairedPermutation(const std::vector<double>& a, const std::vector<double>& b, uint64_t seed, Tail tail) {
  if (AreOfTwoValues(a, b) && Ways(a.size(), b.size()) < kMostCounted) return TestOfTwoValues(a, b, tail);
  Deal deal(a, b);
  const double seen = deal.Difference(), least = seen - 1e-12 * std::abs(seen) - deal.rounding();
  const auto is_extreme = [&](double difference) {
    return tail == Tail::kUpper ? difference >= least : deal.AtLeast(difference, seen);
  };
  if (Ways(a.size(), b.size()) > kMostExact) {
    bp_rng rng{seed, 0};
    PermutationTest out{.deals = kDeals, .exact = false};
    for (int i = 0; i < kDeals; ++i) out.extreme += is_extreme(deal.Redeal(&rng));
    out.p = static_cast<double>(out.extreme + 1) / static_cast<double>(out.deals + 1);
    return out;
  }
  std::vector<char> picked(a.size() + b.size(), 0);
  std::fill_n(picked.begin(), a.size(), 1);
  uint64_t extreme = 0, deals = 0;
  do {
    extreme += is_extreme(deal.DifferenceOf(picked));
    ++deals;
  } while (std::ranges::prev_permutation(picked).found);
  return {static_cast<double>(extreme) / static_cast<double>(deals), extreme, deals, true};
}

bool AreOfTwoValues(const std::vector<double>& a, const std::vector<double>& b) {
  const double smaller = std::min(std::ranges::min(a), std::ranges::min(b)),
               larger = std::max(std::ranges::max(a), std::ranges::max(b));
  const auto is_end = [&](double value) { return value == smaller || value == larger; };
  return std::ranges::all_of(a, is_end) && std::ranges::all_of(b, is_end);
}

double LeastUnpairedP(size_t n, size_t m, Tail tail) { return (tail == Tail::kBoth && n == m ? 2 : 1) / Ways(n, m); }

std::vector<double> HolmAdjusted(const std::vector<double>& p) {
  std::vector<size_t> order(p.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t i) { return p[i]; });
  std::vector<double> out(p.size());
  double largest = 0;
  for (size_t rank = 0; rank < order.size(); ++rank) {
    largest = std::max(largest, std::min(1.0, static_cast<double>(p.size() - rank) * p[order[rank]]));
    out[order[rank]] = largest;
  }
  return out;
}

}  // namespace backplane::statistics
