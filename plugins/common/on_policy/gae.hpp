// Generalised advantage estimation (Schulman et al., arXiv 1506.02438).
#pragma once

#include <cstdint>

namespace backplane::on_policy {

// One stream of n steps: delta = reward + discount * next_value - value, advantage = delta + carry * next advantage. discount:
// gamma, or 0 if the episode terminated. carry: gamma * lambda, or 0 if it ended in any way. All arrays have the stride
// `stride`. Sums are double.
template <class T>
struct GaeStream {
  int64_t n, stride;
  const T *reward, *value, *next_value;
  const double *discount, *carry;
};
template <class T>
void Gae(const GaeStream<T>& stream, T* out_advantage);

}  // namespace backplane::on_policy
