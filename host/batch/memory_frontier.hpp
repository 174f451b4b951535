// Out of memory as data: a trial that did not fit speaks for every trial that needs at least as much.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sweep/plan.hpp"

namespace backplane {

// p >= q: p is at least as large as q on every memory axis and equal to it in everything else. The seed does not matter: memory
// does not depend on it. Without memory axes nothing is comparable.
class MemoryFrontier {
 public:
  explicit MemoryFrontier(const Plan& plan);

  // The points that need at least as much memory as `point`, itself excluded.
  std::vector<size_t> Above(size_t point) const;
  // The points that need no more, with none between them and `point`: they go first, so that each chain runs out of memory
  // once. Those further down have gone before these; only these are kept, because all pairs of a long chain would be far too
  // many. Found when first asked for: not for several threads at once.
  const std::vector<size_t>& Below(size_t point) const;

 private:
  std::vector<size_t> FindBelow(size_t point) const;

  std::vector<std::vector<double>> axes_;              // [points] along the memory axes; empty: not comparable
  std::vector<const std::vector<size_t>*> alike_;      // [points] the points that differ from it in memory axes only
  std::map<std::string, std::vector<size_t>> groups_;  // each from the smallest sum of its coordinates up
  mutable std::vector<std::optional<std::vector<size_t>>> below_;  // [points]
};

}  // namespace backplane
