// The transitions of a gradient step. T is float, or double for tests.
#pragma once

#include <cstdint>
#include <vector>

namespace backplane::off_policy {

// n transitions. `action` has the numbers that the learner stores; `discount` weighs the value of `next_obs`: 0 if the episode
// terminated.
template <class T>
struct Batch {
  int64_t n = 0;
  std::vector<T> obs, action, next_obs;  // [n, obs], [n, actions], [n, obs]
  std::vector<T> reward, discount;       // [n]
  std::vector<T> weight;                 // [n] of the values' loss; empty: 1
  // [n, actions] as `action`, of the step at next_obs; 1 if the window ended an episode. Empty unless the learner needs it.
  std::vector<T> next_action;
};

template <class T>
void Grow(std::vector<T>* values, int64_t n) {
  if (static_cast<int64_t>(values->size()) < n) values->resize(static_cast<size_t>(n));
}

}  // namespace backplane::off_policy
