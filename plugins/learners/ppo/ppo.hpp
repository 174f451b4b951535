// The update of proximal policy optimisation (Schulman et al., arXiv 1707.06347): loss, gradient and Adam step of one
// minibatch. LibTorch stays inside ppo.cpp; T is float, or double for tests against reference figures.
#pragma once

#include <cstdint>
#include <memory>

#include "mlp.hpp"

namespace backplane::ppo {

template <class T>
struct Minibatch {
  int64_t n;
  const T* obs;            // [n, obs]
  const T* action;         // [n, actions]: the unclipped sample; NULL for discrete actions
  const int64_t* choice;   // [n]; NULL for continuous actions
  const uint8_t* mask;     // [n, actions]; NULL: all allowed
  const T *logp, *advantage, *ret, *value;  // [n] each; logp and value as they were when acting
};

struct LossOptions {
  double clip = 0.2;
  double vf_clip = 0.2;  // 0: the value loss is not clipped
  double entropy_coeff = 0, vf_coeff = 0.5;
  double grad_clip = 0.5;  // 0: none
  bool normalize_advantages = true;
  double kl_stop = 0;  // above this estimate no step is taken; 0: no limit
};

struct StepStats {
  double policy_loss, value_loss, entropy, total, kl, clip_fraction, grad_norm;
  bool applied;
};

template <class T>
class PpoUpdate {
 public:
  explicit PpoUpdate(const Net& net);
  ~PpoUpdate();
  // Throws bp::Error: BP_E_NUMERIC for a loss or gradient that is not finite, BP_E_OOM_* when memory is short.
  StepStats Step(const Minibatch<T>& batch, const LossOptions& options, double lr);
  // [net.size] each, valid until the end: parameters and Adam's moments.
  T* params();
  T* adam_m();
  T* adam_v();
  int64_t* adam_steps();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace backplane::ppo
