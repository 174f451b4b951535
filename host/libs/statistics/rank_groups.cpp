#include "statistics/rank_groups.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "backplane/rng.h"
#include "statistics/bootstrap.hpp"

namespace backplane::statistics {
namespace {

constexpr int kShuffles = 2000;

std::vector<size_t> InOrder(const std::vector<double>& values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  return order;
}

// Epsilon squared, not cut.
double EpsilonSquared(const std::vector<double>& ranks, const std::vector<size_t>& group, const std::vector<double>& sizes,
                      double used) {
  const auto n = static_cast<double>(ranks.size());
  const double mean = (n + 1) / 2;
  std::vector<double> sums(sizes.size());
  double total = 0;
  for (size_t i = 0; i < ranks.size(); ++i) {
    sums[group[i]] += ranks[i] - mean;
    total += (ranks[i] - mean) * (ranks[i] - mean);
  }
  double between = 0;
  for (size_t g = 0; g < sums.size(); ++g) between += sizes[g] > 0 ? sums[g] * sums[g] / sizes[g] : 0;
  return 1 - (n - 1) / (n - used) * (1 - between / total);
}

}  // namespace

std::vector<double> Ranks(const std::vector<double>& values) {
  const std::vector<size_t> order = InOrder(values);
  std::vector<double> ranks(values.size());
  for (size_t first = 0; first < order.size();) {
    size_t end = first;
    while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
    for (size_t i = first; i < end; ++i) ranks[order[i]] = static_cast<double>(first + end + 1) / 2;
    first = end;
  }
  return ranks;
}

std::optional<Explained> ExplainedByGroups(const std::vector<double>& values, const std::vector<size_t>& group, uint64_t seed) {
  if (values.empty()) return std::nullopt;
  std::vector<double> sizes(*std::max_element(group.begin(), group.end()) + 1);
  for (const size_t g : group) ++sizes[g];
  const auto used = std::count_if(sizes.begin(), sizes.end(), [](double size) { return size > 0; });
  const bool equal = std::all_of(values.begin(), values.end(), [&](double value) { return value == values.front(); });
  if (used < 2 || static_cast<size_t>(used) == values.size() || equal) return std::nullopt;
  std::vector<double> ranks = Ranks(values);
  const double share = EpsilonSquared(ranks, group, sizes, static_cast<double>(used));
  bp_rng rng{seed, 0};
  std::vector<double> dealt;
  for (int deal = 0; deal < kShuffles; ++deal) {
    for (size_t i = 0; i + 1 < ranks.size(); ++i) std::swap(ranks[i], ranks[i + bp_rng_below(&rng, ranks.size() - i)]);
    dealt.push_back(EpsilonSquared(ranks, group, sizes, static_cast<double>(used)));
  }
  return Explained{std::max(share, 0.0), std::max(Quantile(std::move(dealt), 0.95), 0.0)};
}

std::vector<size_t> GroupsInOrder(const std::vector<double>& values, size_t most) {
  const std::vector<size_t> order = InOrder(values);
  const bool few = std::set<double>(values.begin(), values.end()).size() <= most;
  std::vector<size_t> groups(values.size());
  size_t group = 0, in_group = 0;
  for (size_t i = 0; i < order.size(); ++i, ++in_group) {
    const bool differs = i > 0 && values[order[i]] != values[order[i - 1]];
    // Start of the next of the equal parts.
    const bool full = (few && in_group > 0) || (group + 1) * values.size() <= i * most;
    if (differs && full) ++group, in_group = 0;
    groups[order[i]] = group;
  }
  return groups;
}

}  // namespace backplane::statistics
