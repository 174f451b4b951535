// The gradient of MAPPO's loss over one minibatch, by either of two paths: a fused pass over blocks of samples, and LibTorch's
// autograd, which it is measured against.
#pragma once

#include <memory>

#include "backplane/host.h"
#include "batch.hpp"
#include "rl/parallel.hpp"

namespace backplane::mappo {

struct LossOptions {
  double clip = 0.2;
  double vf_clip = 0;      // 0: the value loss is not clipped; in units of the critic's output
  double huber_delta = 0;  // 0: squared error
  double entropy_coeff = 0.01, vf_coeff = 0.5;
};

class Gradient {
 public:
  virtual ~Gradient() = default;
  // Once for each rollout, before the first minibatch of its samples.
  virtual void Take(const Samples& samples) = 0;
  // Writes the gradient [net.size] at `params` into `out`. Fills all statistics but grad_norm and applied.
  virtual rl::StepStats Compute(const Minibatch& batch, const LossOptions& options, const float* params, float* out) = 0;
};

// A minibatch is cut into at most `shards` runs of samples, each with a gradient of its own, and these are added in order: the
// result depends on `shards` and never on how many cores run them. `host` is told of phases.
std::unique_ptr<Gradient> FusedGradient(const Net& net, int64_t shards, rl::Parallel parallel, const bp_host* host);

}  // namespace backplane::mappo
