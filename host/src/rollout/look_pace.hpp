// The number of steps that a player takes between two looks at the clock: up to 8 in a quick env, 1 in a slow env. So looks
// cost little, and a slow env does not count as hung.
#pragma once

#include <algorithm>
#include <cstdint>

namespace backplane {

class LookPace {
 public:
  explicit LookPace(int64_t now_ns) : last_ns_(now_ns) {}

  bool IsDue(int64_t step) const { return step >= next_; }
  void Looked(int64_t step, int64_t now_ns) {
    every_ = now_ns - last_ns_ > kLongNs ? 1 : std::min(2 * every_, kMostSteps);
    last_ns_ = now_ns;
    next_ = step + every_;
  }

 private:
  static constexpr int64_t kMostSteps = 8, kLongNs = 50'000'000;

  int64_t every_ = 1, next_ = 0, last_ns_;
};

}  // namespace backplane
