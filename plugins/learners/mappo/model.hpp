// Values and gradients of the two networks over the samples of an iteration. Two implementations: fused passes over blocks of
// samples on the CPU, and LibTorch, which is the reference and supports GPUs.
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
  // Copies the observations and states of the samples and of the streams' bootstraps; the delivery may be freed afterwards.
  virtual void Take(const bp::Delivery& delivery, const Streams& streams, const Samples& samples) = 0;
  // The critic's outputs at `params` for the samples [n] and the bootstraps; normalised if returns are.
  virtual void Values(const float* params, float* out_samples, float* out_bootstraps) = 0;
  // Writes the gradient [net.size] at `params` over some of the samples into `out`. Sets all statistics except grad_norm and
  // applied.
  virtual StepStats Gradient(const Minibatch& batch, const LossOptions& options, const float* params, float* out) = 0;
};

// Splits work into at most `shards` runs of samples (on_policy/shards.hpp). Reports phases to `host`. `precision` applies to
// the products of gradients; values, and the first layers, which skip zeros, stay float32.
std::unique_ptr<Model> FusedModel(const Net& net, const EnvShape& shape, int64_t shards, Parallel parallel, const bp_host* host,
                                  nn::Precision precision = nn::Precision::kFull);

}  // namespace backplane::mappo
