#include "on_policy/gae.hpp"

namespace backplane::on_policy {

template <class T>
void Gae(const GaeStream<T>& s, T* out_advantage) {
  double next = 0;
  for (int64_t t = s.n - 1; t >= 0; --t) {
    const int64_t i = t * s.stride;
    next = s.reward[i] + s.discount[i] * s.next_value[i] - s.value[i] + s.carry[i] * next;
    out_advantage[i] = static_cast<T>(next);
  }
}

template void Gae(const GaeStream<float>&, float*);
template void Gae(const GaeStream<double>&, double*);

}  // namespace backplane::on_policy
