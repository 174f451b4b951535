// Generalised advantage estimation (Schulman et al., arXiv 1506.02438).
#pragma once

#include <cstdint>

namespace backplane::on_policy {

// One stream of n steps: delta = reward + discount * next_value - value, advantage = delta + carry * next advantage.
// discount: gamma, 0 where the episode terminated. carry: gamma * lambda, 0 where it ended in any way. Entries lie `stride`
// apart in every array. Sums are kept in double.
template <class T>
struct GaeStream {
  int64_t n, stride;
  const T *reward, *value, *next_value;
  const double *discount, *carry;
};
template <class T>
void Gae(const GaeStream<T>& stream, T* out_advantage);

}  // namespace backplane::on_policy
