// Which UAVs are near each other, without comparing all of them: lists of who is in each square of the grid.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model.hpp"

namespace backplane::uav_grid {

struct Uav;

// Squares are wider than what a UAV sees, so that its sight touches four of them at most. Between two uses all lists are empty:
// a use costs what its UAVs cost, however large the grid is.
class NearLists {
 public:
  explicit NearLists(const Model& model);

  // function(i, j) for every two active UAVs i < j within `radius` of each other (Chebyshev), once, in no order that matters.
  template <class Uavs, class Function>
  void ForEachPair(const Uavs& uavs, int64_t radius, Function&& function);

 private:
  // Of a cell, also one beside the grid by no more than the radius.
  int64_t Square(int64_t x, int64_t y) const { return ((y >> shift_) + 1) * squares_ + (x >> shift_) + 1; }

  static constexpr int64_t kFew = 16;  // as many are compared sooner than the lists are made

  int64_t shift_, squares_;     // cells of a square's side are 1 << shift_; squares along each side, with one beside the grid
  std::vector<uint16_t> last_;  // [squares_ * squares_] the UAV that came last, counted from 1; 0: none
  std::vector<uint16_t> next_;  // [n_uavs] the one that came before it
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
