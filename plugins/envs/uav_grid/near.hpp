// Finds pairs of near UAVs without comparing all pairs: lists of the UAVs in each square of the grid.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model.hpp"

namespace backplane::uav_grid {

struct Uav;

// Squares are wider than a UAV's sight, which therefore overlaps at most four. All lists are empty between uses, so the cost
// depends on the number of UAVs and not on the size of the grid.
class NearLists {
 public:
  explicit NearLists(const Model& model);

  // Calls function(i, j) once for every two active UAVs i < j within `radius` of each other (Chebyshev). The order is
  // unspecified.
  template <class Uavs, class Function>
  void ForEachPair(const Uavs& uavs, int64_t radius, Function&& function);

 private:
  // The square of a cell, which may be outside the grid by at most the radius.
  int64_t Square(int64_t x, int64_t y) const { return ((y >> shift_) + 1) * squares_ + (x >> shift_) + 1; }

  static constexpr int64_t kFew = 16;  // up to this number, comparing all pairs is faster

  int64_t shift_, squares_;     // a square has 1 << shift_ cells per side; squares per side, including one outside
  std::vector<uint16_t> last_;  // [squares_ * squares_] last UAV in the list, counted from 1; 0: none
  std::vector<uint16_t> next_;  // [n_uavs] the UAV before it in the list
};

inline NearLists::NearLists(const Model& model) : shift_(1) {
  while (int64_t{1} << shift_ < model.options.patch_side()) ++shift_;
  squares_ = ((model.options.grid_size - 1) >> shift_) + 3;
  last_.resize(squares_ * squares_), next_.resize(model.options.n_uavs);
}

template <class Uavs, class Function>
void NearLists::ForEachPair(const Uavs& uavs, int64_t radius, Function&& function) {
  static_assert(uav::kMaxUavs < UINT16_MAX);
  const auto reach = static_cast<uint64_t>(2 * radius);
  const auto n = static_cast<int64_t>(uavs.size());
  const auto look = [&](int64_t i, int64_t j) {
    const auto &a = uavs[i], &b = uavs[j];
    const bool near =
        (static_cast<uint64_t>(b.x - a.x + radius) <= reach) & (static_cast<uint64_t>(b.y - a.y + radius) <= reach);
    if (near && a.status == uav::Status::kActive) function(i, j);
  };
  if (n <= kFew) {
    for (int64_t j = 1; j < n; ++j)
      for (int64_t i = 0; uavs[j].status == uav::Status::kActive && i < j; ++i) look(i, j);
    return;
  }
  for (int64_t j = 0; j < n; ++j) {
    const auto& b = uavs[j];
    if (b.status != uav::Status::kActive) continue;
    const int64_t top = Square(b.x - radius, b.y - radius), right = Square(b.x + radius, b.y - radius);
    const int64_t bottom = Square(b.x - radius, b.y + radius);
    for (int64_t line = top; line <= bottom; line += squares_) {
      for (int64_t square = line; square <= line + (right - top); ++square) {
        for (int64_t i = last_[square]; i != 0; i = next_[i - 1]) look(i - 1, j);
      }
    }
    uint16_t& last = last_[Square(b.x, b.y)];
    next_[j] = last, last = static_cast<uint16_t>(j + 1);
  }
  for (const auto& u : uavs) last_[Square(u.x, u.y)] = 0;
}

}  // namespace backplane::uav_grid
