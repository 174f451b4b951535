// One gradient step of PPO: gradient by either path, clip of the global norm, Adam; all numbers of the model in flat buffers.
#pragma once

#include <memory>
#include <vector>

#include "gradient.hpp"

namespace backplane::ppo {

template <class T>
class PpoUpdate {
 public:
  PpoUpdate(const Net& net, std::unique_ptr<Gradient<T>> gradient);
  // Throws bp::Error: BP_E_NUMERIC for a loss or gradient that is not finite, BP_E_OOM_* when memory is short.
  StepStats Step(const Minibatch<T>& batch, const LossOptions& options, double lr);
  // Throws bp::Error (BP_E_NUMERIC) for a state that no step can mend: after the last step of an update no loss would show it.
  void RequireFiniteState() const;

  // [net.size] each, valid until the end: parameters, the last gradient after its clip, and Adam's moments.
  T* params() { return params_.data(); }
  const T* params() const { return params_.data(); }
  const T* gradient() const { return gradient_.data(); }
  std::vector<T>& adam_m() { return m_; }
  std::vector<T>& adam_v() { return v_; }
  int64_t& adam_steps() { return steps_; }
  const std::vector<T>& adam_m() const { return m_; }
  const std::vector<T>& adam_v() const { return v_; }
  int64_t adam_steps() const { return steps_; }

 private:
  std::unique_ptr<Gradient<T>> path_;
  std::vector<T> params_, gradient_, m_, v_;
  int64_t steps_ = 0;
};

}  // namespace backplane::ppo
