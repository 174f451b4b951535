// Finds UAVs with equal numbers by hashing, without comparing all pairs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace backplane::uav_grid {

// The first UAV of each number. Open addressing in a table at most half full.
class Meetings {
 public:
  explicit Meetings(int64_t most);

  // function(first, k) for every k in [0, n) whose number occurred before, `first` being its first occurrence.
  template <class Function>
  void ForEach(const int32_t* numbers, int64_t n, Function&& function);

 private:
  static constexpr int64_t kFew = 16;  // up to this number, comparing all pairs is faster

  int shift_ = 31;
  std::vector<uint16_t> first_;  // [a power of two] counted from 1; 0: none
};

inline Meetings::Meetings(int64_t most) {
  while (int64_t{1} << (32 - shift_) < 2 * most) --shift_;
  first_.resize(size_t{1} << (32 - shift_));
}

template <class Function>
void Meetings::ForEach(const int32_t* numbers, int64_t n, Function&& function) {
  if (n <= kFew) {
    for (int64_t k = 1; k < n; ++k) {
      int64_t i = 0;
      while (numbers[i] != numbers[k]) ++i;
      if (i < k) function(i, k);
    }
    return;
  }
  const size_t mask = first_.size() - 1;
  std::fill(first_.begin(), first_.end(), uint16_t{0});
  for (int64_t k = 0; k < n; ++k) {
    // Fibonacci hashing (Knuth, TAOCP 3, 6.4).
    size_t at = static_cast<uint32_t>(numbers[k]) * 0x9E3779B1u >> shift_;
    while (first_[at] != 0 && numbers[first_[at] - 1] != numbers[k]) at = (at + 1) & mask;
    if (first_[at] == 0)
      first_[at] = static_cast<uint16_t>(k + 1);
    else
      function(int64_t{first_[at]} - 1, k);
  }
}

}  // namespace backplane::uav_grid
