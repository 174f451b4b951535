#include "replay/sum_tree.hpp"

#include <algorithm>

namespace backplane::replay {

SumTree::SumTree(uint64_t n) {
  while (width_ < n) width_ *= 2;
  sums_.resize(2 * width_);
}

void SumTree::Set(uint64_t leaf, float value) {
  uint64_t node = width_ + leaf;
  sums_[node] = static_cast<double>(value);
  for (node /= 2; node > 0; node /= 2) sums_[node] = sums_[2 * node] + sums_[2 * node + 1];
}

uint64_t SumTree::Find(double mass) const {
  uint64_t node = 1;
  while (node < width_) {
    const double left = sums_[2 * node], right = sums_[2 * node + 1];
    // Rounding may leave more mass than the right child has.
    if (mass < left || right <= 0) {
      node = 2 * node;
    } else {
      mass -= left, node = 2 * node + 1;
    }
  }
  return node - width_;
}

void SumTree::Clear() { std::fill(sums_.begin(), sums_.end(), 0.0); }

}  // namespace backplane::replay
