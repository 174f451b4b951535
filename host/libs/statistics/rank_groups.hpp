// The share of a metric's variation that a grouping explains, independent of the metric's scale.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace backplane::statistics {

// Ranks from 1; ties have their mean rank.
std::vector<double> Ranks(const std::vector<double>& values);

struct Explained {
  double share = 0;      // fraction of the variance of the ranks, 0 to 1
  double by_chance = 0;  // exceeded by unrelated groups in 1 of 20 cases
};

// The share of the ranks' variance that lies between groups: Kruskal and Wallis (1952) as epsilon squared (Kelley, 1935), which
// averages 0 for unrelated groups and is clamped at 0. `group` of each value: 0, 1, ... Absent if fewer than two groups have
// values, no group has two, or all values are equal. Deterministic for a given seed.
std::optional<Explained> ExplainedByGroups(const std::vector<double>& values, const std::vector<size_t>& group, uint64_t seed);

// Splits the values in order into at most `most` groups of similar size. Equal values share a group.
std::vector<size_t> GroupsInOrder(const std::vector<double>& values, size_t most);

}  // namespace backplane::statistics
