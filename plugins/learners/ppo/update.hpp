// One gradient step of PPO: gradient by either path, clip of the global norm, Adam; all numbers of the model in flat buffers.
#pragma once

#include <memory>

#include "gradient.hpp"
#include "rl/optimizer.hpp"

namespace backplane::ppo {

template <class T>
class PpoUpdate : public rl::Optimizer<T> {
 public:
  PpoUpdate(const Net& net, std::unique_ptr<Gradient<T>> gradient);
  // Throws bp::Error: BP_E_NUMERIC for a loss or gradient that is not finite, BP_E_OOM_* when memory is short.
  StepStats Step(const Minibatch<T>& batch, const LossOptions& options, double lr);

 private:
  std::unique_ptr<Gradient<T>> path_;
};

}  // namespace backplane::ppo
