#include "update.hpp"

#include <cmath>
#include <string>

#include "backplane/plugin.hpp"
#include "nn/vectors.hpp"

namespace backplane::ppo {
namespace {

void NeedFinite(const char* what, double value) {
  if (std::isfinite(value)) return;
  throw bp::Error(BP_E_NUMERIC, std::string("the ") + what + " is " + (std::isnan(value) ? "not a number" : "infinite") +
                                    "; a smaller lr, normalize_obs or normalize_rewards may help");
}

}  // namespace

template <class T>
PpoUpdate<T>::PpoUpdate(const Net& net, std::unique_ptr<Gradient<T>> gradient)
    : path_(std::move(gradient)), params_(net.size), gradient_(net.size), m_(net.size), v_(net.size) {}

template <class T>
StepStats PpoUpdate<T>::Step(const Minibatch<T>& batch, const LossOptions& options, double lr) {
  const auto size = static_cast<int64_t>(params_.size());
  StepStats stats = path_->Compute(batch, options, params_.data(), gradient_.data());
  NeedFinite("loss", stats.total);
  if (options.kl_stop > 0 && stats.kl > options.kl_stop) return stats;
  stats.grad_norm = std::sqrt(nn::SumOfSquares(gradient_.data(), size));
  NeedFinite("gradient norm", stats.grad_norm);
  const double factor = options.grad_clip / (stats.grad_norm + 1e-6);
  if (options.grad_clip > 0 && factor < 1) nn::Scale(factor, size, gradient_.data());
  nn::Adam({.lr = lr, .step = ++steps_}, gradient_.data(), size, m_.data(), v_.data(), params_.data());
  stats.applied = true;
  return stats;
}

// Where a second moment has overflowed, its parameter stands still for ever and nothing else shows it.
template <class T>
void PpoUpdate<T>::RequireFiniteState() const {
  NeedFinite("norm of the parameters", std::sqrt(nn::SumOfSquares(params_.data(), static_cast<int64_t>(params_.size()))));
  NeedFinite("norm of Adam's second moments", std::sqrt(nn::SumOfSquares(v_.data(), static_cast<int64_t>(v_.size()))));
}

template class PpoUpdate<float>;
template class PpoUpdate<double>;

}  // namespace backplane::ppo
