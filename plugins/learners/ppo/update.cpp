#include "update.hpp"

namespace backplane::ppo {

template <class T>
PpoUpdate<T>::PpoUpdate(const Net& net, std::unique_ptr<Gradient<T>> gradient)
    : rl::Optimizer<T>(net.size, "a smaller lr, normalize_obs or normalize_rewards may help"), path_(std::move(gradient)) {}

template <class T>
StepStats PpoUpdate<T>::Step(const Minibatch<T>& batch, const LossOptions& options, double lr) {
  StepStats stats = path_->Compute(batch, options, this->params(), this->gradient());
  rl::NeedFinite("loss", stats.total, this->hint());
  if (options.kl_stop > 0 && stats.kl > options.kl_stop) return stats;
  stats.grad_norm = rl::Optimizer<T>::Step(options.grad_clip, this->size(), lr);
  stats.applied = true;
  return stats;
}

template class PpoUpdate<float>;
template class PpoUpdate<double>;

}  // namespace backplane::ppo
