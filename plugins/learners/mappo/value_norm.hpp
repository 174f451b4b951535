// ValueNorm of marlbenchmark/on-policy: the critic predicts returns with mean 0 and deviation 1.
#pragma once

#include <cstdint>

#include "backplane/learner.hpp"
#include "on_policy/clipped_loss.hpp"

namespace backplane::mappo {

// m <- b m + (1 - b) mean, q <- b q + (1 - b) mean of squares, d <- b d + (1 - b), with b 0.99999; mean m / max(d, 1e-5),
// variance max(q / max(d, 1e-5) - mean^2, 0.01). Before the first update mean 0 and variance 0.01.
class ValueNorm {
 public:
  template <class At>
  void Update(int64_t n, At&& at) {  // at(i): return i
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < n; ++i) sum += at(i), squares += static_cast<double>(at(i)) * at(i);
    Blend(sum / static_cast<double>(n), squares / static_cast<double>(n));
  }
  double mean() const;
  double variance() const;
  on_policy::Scaling scaling() const;  // from returns to the critic's predictions
  float Denormalize(double value) const;

  void Save(const bp::Writer& writer) const;
  void Load(const bp::Reader& reader);
  void Tell(bp::NamedTensors* out, const std::string& prefix = "") const;

 private:
  void Blend(double mean, double square);
  double m_ = 0, q_ = 0, d_ = 0;
};

}  // namespace backplane::mappo
