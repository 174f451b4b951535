// Gradient steps of DQN (Mnih et al., Nature 518) with Huber's loss, optionally double (van Hasselt et al., arXiv 1509.06461).
// Losses and gradients are fused on the CPU, or computed by LibTorch. T is float, or double for tests.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "net.hpp"
#include "off_policy/batch.hpp"
#include "off_policy/gradients.hpp"
#include "on_policy/optimizer.hpp"

namespace backplane::dqn {

struct TrainerOptions {
  double lr = 1e-4, tau = 1;
  double grad_clip = 10;  // 0: no limit
  bool double_q = false;
};

using UpdateStats = ValueStep;

// The gradient by another implementation than the fused one.
template <class T>
class Gradients {
 public:
  virtual ~Gradients() = default;
  // Writes the gradient of the loss into `out`, and the values' distances from their targets into `errors` [n].
  virtual UpdateStats Compute(const Batch<T>& batch, const T* params, const T* target, T* out, T* errors) = 0;
};

using Part = TorchPart<Gradients<float>, Net, TrainerOptions>;  // learner_dqn_torch.so

template <class T>
class Trainer {
 public:
  using Part = dqn::Part;

  // Starts with parameters 0. `hint` ends errors about numbers that are not finite.
  Trainer(const Net& net, const TrainerOptions& options, const Parallel& parallel, const std::string& hint);

  // Updates then use these gradients instead of the fused ones.
  void UseGradients(std::unique_ptr<Gradients<T>> gradients) { gradients_ = std::move(gradients); }

  // After changes of the parameters from outside; the target starts as a copy with `copy_target`.
  void Refresh(bool copy_target);

  // One gradient step. The batch's actions are stored ones (Net::stored). Throws bp::Error (BP_E_NUMERIC) if a number is not
  // finite. The same bits for any `parallel`.
  UpdateStats Update(const Batch<T>& batch);
  // [n], of the last update: the values' distances from their targets.
  const std::vector<T>& errors() const { return errors_; }
  // target = (1 - tau) * target + tau * network
  void UpdateTarget();

  const Net& net() const { return net_; }
  const TrainerOptions& options() const { return options_; }
  Optimizer<T>& optimizer() { return optimizer_; }
  const Optimizer<T>& optimizer() const { return optimizer_; }
  std::vector<T>& target() { return target_; }
  const std::vector<T>& target() const { return target_; }
  // Packed, for acting; valid until the next change.
  const PackedTower<T>& weights() const { return weights_; }
  uint64_t updates() const { return updates_; }
  void set_updates(uint64_t updates) { updates_ = updates; }

 private:
  // The network's heads for all rows of x; keeps the hidden layers' outputs.
  void Evaluate(const PackedTower<T>& weights, const T* params, const std::vector<T>& x, int64_t n, TowerWork<T>* work) const;
  UpdateStats FusedGradient(const Batch<T>& batch);
  void Targets(const Batch<T>& batch);
  UpdateStats Loss(const Batch<T>& batch);

  Net net_;
  TrainerOptions options_;
  Parallel parallel_;
  Optimizer<T> optimizer_;
  std::vector<T> target_;
  std::unique_ptr<Gradients<T>> gradients_;  // NULL: fused
  PackedTower<T> weights_, target_weights_;
  TowerWork<T> work_, next_work_, target_work_;  // at obs, at next_obs (double), of the target network at next_obs
  std::vector<T> y_, errors_, values_, target_values_;
  uint64_t updates_ = 0;
};

}  // namespace backplane::dqn
