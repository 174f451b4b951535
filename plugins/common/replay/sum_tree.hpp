// Numbers whose sum is kept in a binary tree, to draw one with a probability proportional to its value. Each inner number is
// the sum of its two children, so the tree is a function of its leaves: rebuilt from saved leaves, it gives the same draws.
#pragma once

#include <cstdint>
#include <vector>

namespace backplane::replay {

class SumTree {
 public:
  // n leaves of 0.
  explicit SumTree(uint64_t n);

  void Set(uint64_t leaf, float value);  // at least 0
  float Get(uint64_t leaf) const { return static_cast<float>(sums_[width_ + leaf]); }
  double Total() const { return sums_[1]; }
  // The leaf at which the running sum exceeds `mass`, 0 <= mass < Total(). Never a leaf of 0 if another one is positive.
  uint64_t Find(double mass) const;
  void Clear();

 private:
  uint64_t width_ = 1;
  std::vector<double> sums_;  // node i has the children 2i and 2i + 1; leaves start at width_
};

}  // namespace backplane::replay
