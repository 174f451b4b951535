#include "noise.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/empty_like.h>

#include "backplane/rng.h"

namespace backplane::seq2seq {

Noise::Stream::Stream(uint64_t seed) : generator_(at::detail::createCPUGenerator(seed)) {}

at::Tensor Noise::Stream::Drop(const at::Tensor& x, double p) {
  if (!generator_ || p == 0) return x;
  // Booleans: the backward pass keeps a byte and not four for each element. Drawn on the CPU: the same on every device.
  const at::TensorOptions kind = at::TensorOptions(at::kCPU).dtype(at::kBool);
  const at::Tensor kept = at::empty_like(x, kind).bernoulli_(1 - p, generator_).to(x.device());
  return x.mul(kept).mul_(1 / (1 - p));
}

Noise::Stream Noise::Of(uint64_t layer) const {
  return seed_ ? Stream(bp_seed(*seed_, BP_PURPOSE_LEARNER, 2, layer)) : Stream();
}

}  // namespace backplane::seq2seq
