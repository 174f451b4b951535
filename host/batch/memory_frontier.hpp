// Out of memory as data: if a trial did not fit, all trials that need at least as much do not fit either.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sweep/plan.hpp"

namespace backplane {

// p >= q if p is at least q on every memory axis and equal to it otherwise. The seed does not matter, because memory does not
// depend on it. Points without memory axes are not comparable.
class MemoryFrontier {
 public:
  explicit MemoryFrontier(const Plan& plan);

  // The other points that need at least as much memory as `point`.
  std::vector<size_t> Above(size_t point) const;
  // The direct predecessors of `point`: they need no more memory. They run first, so that each chain runs out of memory once.
  // Only direct ones are stored, because a long chain has too many pairs. Computed on first use. [not thread-safe]
  const std::vector<size_t>& Below(size_t point) const;

 private:
  std::vector<size_t> FindBelow(size_t point) const;

  std::vector<std::vector<double>> axes_;              // [points] along the memory axes; empty: not comparable
  std::vector<const std::vector<size_t>*> alike_;      // [points] the points that differ from it only in memory axes
  std::map<std::string, std::vector<size_t>> groups_;  // each sorted by the sum of coordinates, ascending
  mutable std::vector<std::optional<std::vector<size_t>>> below_;  // [points]
};

}  // namespace backplane
