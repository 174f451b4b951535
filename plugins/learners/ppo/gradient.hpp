// The gradient of PPO's loss (Schulman et al., arXiv 1707.06347) over one minibatch, by either of two paths: a fused pass over
// blocks of rows, and LibTorch's autograd, which it is measured against. T is float, or double for tests against reference
// figures.
#pragma once

#include <cstdint>
#include <memory>

#include "backplane/host.h"
#include "backplane/tensor.h"
#include "net.hpp"
#include "on_policy/clipped_loss.hpp"
#include "on_policy/parallel.hpp"

namespace backplane::ppo {

template <class T>
struct Minibatch {
  int64_t n;
  const T* obs;                             // [n, obs]
  const T* action;                          // [n, actions]: the unclipped sample; NULL for discrete actions
  const int64_t* choice;                    // [n]; NULL for continuous actions
  const uint8_t* mask;                      // [n, actions]; NULL: all allowed
  const T *logp, *advantage, *ret, *value;  // [n] each; logp and value as they were when acting
  const int64_t* index = nullptr;           // [n]: sample i lies at index[i] of all these arrays, which are longer; NULL: at i
  int64_t Place(int64_t i) const { return index ? index[i] : i; }
};

struct LossOptions : on_policy::LossOptions {
  bool normalize_advantages;  // of each minibatch
};

// Added to the variance of state-dependent noise, as in Stable-Baselines3.
constexpr double kSdeVariance = 1e-6;

template <class T>
class Gradient {
 public:
  virtual ~Gradient() = default;
  // Writes the gradient [net.size] at `params` into `out`. Fills all statistics but grad_norm and applied.
  virtual StepStats Compute(const Minibatch<T>& batch, const LossOptions& options, const T* params, T* out) = 0;
};

// A minibatch is cut into at most `shards` runs of rows (on_policy/shards.hpp). `host` is told of phases. `precision` is that
// of the networks' products; what comes before and after them is computed in T.
template <class T>
std::unique_ptr<Gradient<T>> FusedGradient(const Net& net, int64_t shards, Parallel parallel, const bp_host* host,
                                           nn::Precision precision = nn::Precision::kFull);
// On the device, to which each minibatch is copied; with `amp` layers in bfloat16. Throws bp::Error with BP_E_OOM_* when memory
// is short.
template <class T>
std::unique_ptr<Gradient<T>> TorchGradient(const Net& net, const bp_host* host, bp_device device = {BP_DEVICE_CPU, 0},
                                           bool amp = false);

}  // namespace backplane::ppo
