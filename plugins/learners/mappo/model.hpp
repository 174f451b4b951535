// Values and gradients of the two networks over one iteration's samples, by either of two paths: fused passes over blocks of
// samples on the CPU, and LibTorch, which the first is measured against and which can run on a GPU.
#pragma once

#include <memory>

#include "backplane/host.h"
#include "batch.hpp"
#include "net.hpp"
#include "on_policy/parallel.hpp"

namespace backplane::mappo {

class Model {
 public:
  virtual ~Model() = default;
  // Keeps the observations and states of the samples and of the streams' bootstraps: the delivery may go.
  virtual void Take(const bp::Delivery& delivery, const Streams& streams, const Samples& samples) = 0;
  // What the critic's head says at `params` of the samples [n] and of the bootstraps; normalised if returns are.
  virtual void Values(const float* params, float* out_samples, float* out_bootstraps) = 0;
  // Writes the gradient [net.size] at `params` over some of the samples into `out`. Fills all statistics but grad_norm and
  // applied.
  virtual StepStats Gradient(const Minibatch& batch, const LossOptions& options, const float* params, float* out) = 0;
};

// Work is cut into at most `shards` runs of samples (on_policy/shards.hpp). `host` is told of phases. `precision` is that of a
// gradient's products; values, and the first layers, which skip zeros, stay float32.
std::unique_ptr<Model> FusedModel(const Net& net, const EnvShape& shape, int64_t shards, Parallel parallel, const bp_host* host,
                                  nn::Precision precision = nn::Precision::kFull);

}  // namespace backplane::mappo
