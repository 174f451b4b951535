// Two critics of actions in [-1, 1] with target networks: values, gradient steps, and derivatives at the actions. T is float,
// or double for tests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "off_policy/batch.hpp"
#include "off_policy/net.hpp"
#include "on_policy/optimizer.hpp"

namespace backplane::off_policy {

// A step of Adam with epsilon 1e-8, after which the parameters have to be packed again.
template <class T>
void Descend(double lr, double grad_clip, double loss, const Parallel& parallel, Optimizer<T>* optimizer) {
  StepStats stats{};
  stats.total = loss;
  optimizer->Step({.lr = lr, .grad_clip = grad_clip, .kl_stop = 0, .eps = 1e-8}, parallel, &stats);
}

template <class T>
class TwinCritics {
 public:
  // Starts with parameters 0. `hint` ends errors about numbers that are not finite.
  TwinCritics(const Net& net, const Parallel& parallel, const std::string& hint);

  // Its gradients come from elsewhere (gradients.hpp): weights need no packing, and only StepAlong and MixTargets may be
  // called.
  void LearnElsewhere() { packs_ = false; }
  // A step along optimizer().gradient(), of a loss with this value.
  void StepAlong(double loss, double lr, double grad_clip) { Descend(lr, grad_clip, loss, parallel_, &critics_); }

  // After changes of the parameters from outside; targets start as copies of the critics with `copy_targets`.
  void Refresh(bool copy_targets);

  // Evaluates the target networks at next_obs and these actions [n, actions]; TargetValue is the smaller value of row i.
  void EvaluateTargets(const Batch<T>& batch, const T* next_action);
  T TargetValue(int64_t i) const { return std::min(judges_[0].target_value[i], judges_[1].target_value[i]); }

  // A gradient step towards y [n]. The loss is the sum over critics of half the mean of weight * (Q - y)^2. `q`: mean value.
  struct Stats {
    double loss, q;
  };
  Stats Update(const Batch<T>& batch, const T* y, double lr, double grad_clip);
  // [n], of the last update: the mean distance of both critics from y.
  const std::vector<T>& errors() const { return errors_; }
  T* errors(int64_t n) { return errors_.resize(static_cast<size_t>(n)), errors_.data(); }

  // dQ/da [n, actions] at obs and these actions, of the critic with the smaller value of each row, or of the first one. No
  // weight of a critic gets a gradient. Returns the sum of these values.
  double SmallerGradient(const Batch<T>& batch, const T* action, T* dq);
  double FirstGradient(const Batch<T>& batch, const T* action, T* dq);

  // targets = (1 - tau) * targets + tau * critics
  void MixTargets(double tau);

  Optimizer<T>& optimizer() { return critics_; }
  const Optimizer<T>& optimizer() const { return critics_; }
  std::vector<T>& targets() { return targets_; }
  const std::vector<T>& targets() const { return targets_; }

 private:
  // One critic and its target.
  struct Judge {
    PackedTower<T> weights, target_weights;
    nn::Packed<T> to_action;  // from the first layer's sums to the derivative at the action
    TowerWork<T> work;
    std::vector<T> input, error, target_value;  // [n, obs + actions], [n], [n]
    std::vector<int64_t> chosen;                // rows whose derivative is this critic's
    std::vector<T> d, other;                    // [rows, widest]
    double loss = 0, sum = 0;
  };

  // each(0) and each(1), at the same time if there is a second thread.
  template <class Each>
  void Both(Each&& each) {
    parallel_(2, [&](uint64_t i) { each(static_cast<int64_t>(i)); });
  }
  void Pack();
  void PackTargets();
  void Join(const T* obs, const T* action, int64_t n, std::vector<T>* input) const;
  void TargetValues(const Batch<T>& batch, const T* next_action, int64_t critic);
  void Gradient(const Batch<T>& batch, const T* y, int64_t critic);
  void ActionValues(const Batch<T>& batch, const T* action, int64_t critic);
  void ActionGradient(int64_t critic, T* dq);
  const nn::Layer& FirstOf(int64_t critic) const;

  Net net_;
  Parallel parallel_;
  Optimizer<T> critics_;
  std::vector<T> targets_;
  Judge judges_[2];
  std::vector<T> errors_;
  bool packs_ = true;
};

}  // namespace backplane::off_policy
