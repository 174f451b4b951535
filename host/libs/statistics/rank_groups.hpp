// How much of what a figure differs by goes with the group that it is in, whatever the scale of the figure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace backplane::statistics {

// Places in order from 1 on; equal values share the mean of theirs.
std::vector<double> Ranks(const std::vector<double>& values);

struct Explained {
  double share = 0;      // of the variance of the ranks, 0 to 1
  double by_chance = 0;  // what groups that say nothing reach in one case of twenty
};

// The share of the variance of the values' ranks that lies between groups: Kruskal and Wallis (1952), as epsilon squared
// (Kelley, 1935), which is 0 on average where groups say nothing, and cut at 0. `group` of each value: 0, 1, ... Absent: fewer
// than two groups have values, no group has two, or all values are equal. The same seed gives the same `by_chance`.
std::optional<Explained> ExplainedByGroups(const std::vector<double>& values, const std::vector<size_t>& group, uint64_t seed);

// Groups of about equal size, in order: at most `most` of them. Equal values are in the same group.
std::vector<size_t> GroupsInOrder(const std::vector<double>& values, size_t most);

}  // namespace backplane::statistics
