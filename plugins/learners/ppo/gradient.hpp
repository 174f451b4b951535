// The gradient of PPO's loss (Schulman et al., arXiv 1707.06347) over a minibatch. Two implementations: a fused pass over
// blocks of rows, and LibTorch's autograd as the reference. T is float, or double for tests against reference numbers.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backplane/host.h"
#include "backplane/tensor.h"
#include "net.hpp"
#include "on_policy/clipped_loss.hpp"
#include "on_policy/options.hpp"
#include "on_policy/parallel.hpp"
#include "on_policy/sequences.hpp"

namespace backplane::ppo {

template <class T>
struct Minibatch {
  int64_t n;
  const T* obs;                             // [n, obs]
  const T* action;                          // [n, action.numbers]: unclipped; NULL without Gaussians
  const int64_t* choice;                    // [n, action.choices]; NULL without choices and bits
  const uint8_t* mask;                      // [n, action.flags]; NULL: all allowed
  const T *logp, *advantage, *ret, *value;  // [n] each; logp and value from acting
  const int64_t* index = nullptr;           // [n]: sample i is at index[i] of these arrays, which are longer; NULL: at i
  // For nets with a memory: the samples' sequences, in the order of `index`, and the memory before each of them, carry
  // [sequences, net.carry()].
  const SequenceBlocks* blocks = nullptr;
  const T* carry = nullptr;
  std::vector<Pixels> pixels = {};  // of each image of the net, for the same i as the arrays
  int64_t Place(int64_t i) const { return index ? index[i] : i; }
};

struct LossOptions : on_policy::LossOptions {
  bool normalize_advantages;  // per minibatch
};

// Added to the variance of state-dependent noise, as in Stable-Baselines3.
constexpr double kSdeVariance = 1e-6;

template <class T>
class Gradient {
 public:
  virtual ~Gradient() = default;
  virtual void AllowSmallerParts(bool /*allowed*/) {}  // of a minibatch that does not fit into the device's memory
  // Writes the gradient [net.size] at `params` into `out`. Sets all statistics except grad_norm and applied.
  virtual StepStats Compute(const Minibatch<T>& batch, const LossOptions& options, const T* params, T* out) = 0;
};

// Splits a minibatch into at most `shards` runs of rows (on_policy/shards.hpp). Reports phases to `host`. `precision` applies
// to the networks' products; the computations before and after them use T.
template <class T>
std::unique_ptr<Gradient<T>> FusedGradient(const Net& net, int64_t shards, Parallel parallel, const bp_host* host,
                                           nn::Precision precision = nn::Precision::kFull);
// Computes on devices, to which each minibatch is copied, with layers in mixed precision (on_policy/torch_shards.hpp). Throws
// bp::Error with BP_E_OOM_* if memory is short for one sample, or if smaller parts are not allowed.
template <class T>
std::unique_ptr<Gradient<T>> TorchGradient(const Net& net, const bp_host* host, const TorchOptions& options = {});

}  // namespace backplane::ppo
