#include "ppo.hpp"

#include <cmath>
#include <string>

#include "losses.hpp"
#include "torch/errors.hpp"
#include "torch/flat_params.hpp"

namespace backplane::ppo {

using torch_common::FlatParams;

at::Tensor GaussianLogp(const at::Tensor& x, const at::Tensor& mean, const at::Tensor& log_std) {
  constexpr double kHalfLog2Pi = 0.91893853320467274178;
  const at::Tensor z = (x - mean) * log_std.neg().exp();
  return (z.square() * -0.5 - log_std - kHalfLog2Pi).sum(-1);
}

at::Tensor GaussianEntropy(const at::Tensor& log_std) {
  constexpr double kHalfLog2PiE = 1.41893853320467274178;
  return (log_std + kHalfLog2PiE).sum(-1);
}

at::Tensor MaskedLogSoftmax(const at::Tensor& logits, const at::Tensor& mask) {
  // Finite, so that 0 * log 0 stays 0 in the entropy and in its gradient.
  return (mask.defined() ? logits.masked_fill(mask.logical_not(), -1e30) : logits).log_softmax(-1);
}

at::Tensor CategoricalEntropy(const at::Tensor& log_probs) { return -(log_probs.exp() * log_probs).sum(-1); }

at::Tensor ClippedSurrogate(const at::Tensor& ratio, const at::Tensor& advantage, double clip) {
  return at::max(-advantage * ratio, -advantage * ratio.clamp(1 - clip, 1 + clip)).mean();
}

at::Tensor NormalizeAdvantages(const at::Tensor& advantage) {
  if (advantage.size(0) < 2) return advantage;
  return (advantage - advantage.mean()) / (advantage.std(/*unbiased=*/true) + 1e-8);
}

at::Tensor ValueLoss(const at::Tensor& value, const at::Tensor& old, const at::Tensor& target, double clip) {
  const at::Tensor loss = (value - target).square();
  if (clip <= 0) return loss.mean() * 0.5;
  const at::Tensor near = old + (value - old).clamp(-clip, clip);
  return at::max(loss, (near - target).square()).mean() * 0.5;
}

template <class T>
struct PpoUpdate<T>::Impl {
  struct Linear {
    at::Tensor weight, bias;
  };
  struct Tensors {
    at::Tensor obs, logp, advantage, ret, value;
  };
  static constexpr at::ScalarType kType = c10::CppTypeToScalarType<T>::value;

  explicit Impl(const Net& n) : net(n), params(n.size, kType) {
    for (const Layer& layer : net.actor) actor.push_back(Leaves(layer));
    for (const Layer& layer : net.critic) critic.push_back(Leaves(layer));
    if (net.log_std >= 0) log_std = params.Leaf(net.log_std, {net.actions});
  }
  Linear Leaves(const Layer& l) { return {params.Leaf(l.weight, {l.in, l.out}), params.Leaf(l.bias, {l.out})}; }

  // Tensors over the caller's memory, which LibTorch only reads.
  template <class V>
  static at::Tensor Borrow(const V* data, at::IntArrayRef shape, at::ScalarType type) {
    return at::from_blob(const_cast<V*>(data), shape, at::TensorOptions(type));
  }

  at::Tensor Forward(const std::vector<Linear>& layers, at::Tensor x) const {
    for (size_t i = 0; i < layers.size(); ++i) {
      x = at::addmm(layers[i].bias, x, layers[i].weight);
      if (i + 1 < layers.size()) x = net.activation == Activation::kTanh ? x.tanh() : x.relu();
    }
    return x;
  }

  // Log-probabilities of the batch's actions and the mean entropy.
  std::pair<at::Tensor, at::Tensor> Policy(const Minibatch<T>& b, const at::Tensor& obs) const {
    const at::Tensor head = Forward(actor, obs);
    if (!net.discrete) {
      return {GaussianLogp(Borrow(b.action, {b.n, net.actions}, kType), head, log_std), GaussianEntropy(log_std)};
    }
    const at::Tensor mask = b.mask ? Borrow(b.mask, {b.n, net.actions}, at::kByte) : at::Tensor();
    const at::Tensor log_probs = MaskedLogSoftmax(head, mask);
    const at::Tensor choice = Borrow(b.choice, {b.n, 1}, at::kLong);
    return {log_probs.gather(1, choice).squeeze(1), CategoricalEntropy(log_probs).mean()};
  }

  StepStats Step(const Minibatch<T>& b, const LossOptions& o, double lr) {
    const c10::AutoGradMode grad_mode(true);
    const at::Tensor obs = Borrow(b.obs, {b.n, net.obs}, kType);
    at::Tensor advantage = Borrow(b.advantage, {b.n}, kType);
    if (o.normalize_advantages) advantage = NormalizeAdvantages(advantage);
    const auto [logp, entropy] = Policy(b, obs);
    const at::Tensor log_ratio = logp - Borrow(b.logp, {b.n}, kType), ratio = log_ratio.exp();
    const at::Tensor policy_loss = ClippedSurrogate(ratio, advantage, o.clip);
    const at::Tensor value_loss = ValueLoss(Forward(critic, obs).squeeze(1), Borrow(b.value, {b.n}, kType),
                                            Borrow(b.ret, {b.n}, kType), o.vf_clip);
    const at::Tensor total = policy_loss - entropy * o.entropy_coeff + value_loss * o.vf_coeff;
    const StepStats stats = Summary(policy_loss, value_loss, entropy, total, log_ratio.detach(), ratio.detach(), o.clip);
    if (!std::isfinite(stats.total)) throw NotFinite("loss", stats.total);
    return o.kl_stop > 0 && stats.kl > o.kl_stop ? stats : Apply(total, stats, o, lr);
  }

  static StepStats Summary(const at::Tensor& policy_loss, const at::Tensor& value_loss, const at::Tensor& entropy,
                           const at::Tensor& total, const at::Tensor& log_ratio, const at::Tensor& ratio, double clip) {
    StepStats s{};
    s.policy_loss = policy_loss.item<double>(), s.value_loss = value_loss.item<double>();
    s.entropy = entropy.item<double>(), s.total = total.item<double>();
    const T *l = log_ratio.const_data_ptr<T>(), *r = ratio.const_data_ptr<T>();
    const int64_t n = ratio.numel();
    for (int64_t i = 0; i < n; ++i) {
      s.kl += (static_cast<double>(r[i]) - 1 - l[i]) / n;
      s.clip_fraction += std::abs(r[i] - 1) > clip ? 1.0 / n : 0.0;
    }
    return s;
  }

  StepStats Apply(const at::Tensor& total, StepStats stats, const LossOptions& o, double lr) {
    params.grad().zero_();
    total.backward();
    stats.grad_norm = params.ClipGrad(o.grad_clip);
    if (!std::isfinite(stats.grad_norm)) throw NotFinite("gradient norm", stats.grad_norm);
    params.AdamStep(lr);
    stats.applied = true;
    return stats;
  }

  static bp::Error NotFinite(const char* what, double value) {
    return bp::Error(BP_E_NUMERIC, std::string("the ") + what + " is " + std::to_string(value) +
                                       "; a smaller lr, normalize_obs or normalize_rewards may help");
  }

  Net net;
  FlatParams params;
  std::vector<Linear> actor, critic;
  at::Tensor log_std;
};

template <class T>
PpoUpdate<T>::PpoUpdate(const Net& net) : impl_(torch_common::WithTorchErrors([&] { return std::make_unique<Impl>(net); })) {}
template <class T>
PpoUpdate<T>::~PpoUpdate() = default;

template <class T>
StepStats PpoUpdate<T>::Step(const Minibatch<T>& batch, const LossOptions& options, double lr) {
  return torch_common::WithTorchErrors([&] { return impl_->Step(batch, options, lr); });
}

template <class T>
T* PpoUpdate<T>::params() {
  return impl_->params.value().template data_ptr<T>();
}
template <class T>
T* PpoUpdate<T>::adam_m() {
  return impl_->params.m().template data_ptr<T>();
}
template <class T>
T* PpoUpdate<T>::adam_v() {
  return impl_->params.v().template data_ptr<T>();
}
template <class T>
int64_t* PpoUpdate<T>::adam_steps() {
  return &impl_->params.steps();
}

template class PpoUpdate<float>;
template class PpoUpdate<double>;

}  // namespace backplane::ppo
