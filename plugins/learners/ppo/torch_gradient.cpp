// The loss as LibTorch computes it, with the gradient by autograd: what the fused path is measured against.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>

#include "gradient.hpp"
#include "losses.hpp"
#include "torch/errors.hpp"

namespace backplane::ppo {

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

namespace {

template <class T>
class Autograd final : public Gradient<T> {
 public:
  explicit Autograd(const Net& net) : net_(net) {}

  StepStats Compute(const Minibatch<T>& batch, const LossOptions& options, const T* params, T* out) override {
    return torch_common::WithTorchErrors([&] {
      const c10::AutoGradMode grad_mode(true);
      std::fill_n(out, net_.size, T{0});
      params_ = const_cast<T*>(params), gradient_ = out;
      return Step(batch, options);
    });
  }

 private:
  static constexpr at::ScalarType kType = c10::CppTypeToScalarType<T>::value;

  // A tensor over the caller's memory.
  template <class V>
  static at::Tensor Borrow(const V* data, at::IntArrayRef shape, at::ScalarType type = kType) {
    return at::from_blob(const_cast<V*>(data), shape, at::TensorOptions(type));
  }

  // A leaf of the graph: backward() adds into a defined gradient in place.
  at::Tensor Leaf(int64_t offset, at::IntArrayRef shape) const {
    at::Tensor leaf = Borrow(params_ + offset, shape);
    leaf.set_requires_grad(true);
    leaf.mutable_grad() = Borrow(gradient_ + offset, shape);
    return leaf;
  }

  at::Tensor Linear(const nn::Layer& layer, const at::Tensor& x) const {
    return at::addmm(Leaf(layer.bias, {layer.out}), x, Leaf(layer.weight, {layer.in, layer.out}));
  }

  at::Tensor Hidden(const nn::Trunk& trunk, at::Tensor x) const {
    for (const nn::Layer& layer : trunk) {
      x = Linear(layer, x);
      x = net_.activation == Activation::kTanh ? x.tanh() : x.relu();
    }
    return x;
  }

  struct Chosen {
    at::Tensor logp, entropy;  // [n]; the mean
  };
  Chosen Policy(const Minibatch<T>& b, const at::Tensor& latent) const {
    const at::Tensor head = Linear(net_.policy, latent);
    if (net_.discrete) {
      const at::Tensor mask = b.mask ? Borrow(b.mask, {b.n, net_.actions}, at::kByte) : at::Tensor();
      const at::Tensor log_probs = MaskedLogSoftmax(head, mask);
      return {log_probs.gather(1, Borrow(b.choice, {b.n, 1}, at::kLong)).squeeze(1), CategoricalEntropy(log_probs).mean()};
    }
    at::Tensor log_std;
    if (net_.sde) {
      // No gradient through the latent: Stable-Baselines3's learn_features is off.
      const at::Tensor deviations = Leaf(net_.log_std, {net_.latent(), net_.actions});
      log_std = (latent.detach().square().matmul((deviations * 2).exp()) + kSdeVariance).log() * 0.5;
    } else {
      log_std = Leaf(net_.log_std, {net_.actions});
    }
    return {GaussianLogp(Borrow(b.action, {b.n, net_.actions}), head, log_std), GaussianEntropy(log_std).mean()};
  }

  StepStats Step(const Minibatch<T>& b, const LossOptions& o) const {
    const at::Tensor obs = Borrow(b.obs, {b.n, net_.obs}), latent = Hidden(net_.actor, obs);
    at::Tensor advantage = Borrow(b.advantage, {b.n});
    if (o.normalize_advantages) advantage = NormalizeAdvantages(advantage);
    const Chosen policy = Policy(b, latent);
    const at::Tensor log_ratio = policy.logp - Borrow(b.logp, {b.n}), ratio = log_ratio.exp();
    const at::Tensor policy_loss = ClippedSurrogate(ratio, advantage, o.clip);
    const at::Tensor value = Linear(net_.value, net_.shared ? latent : Hidden(net_.critic, obs)).squeeze(1);
    const at::Tensor value_loss = ValueLoss(value, Borrow(b.value, {b.n}), Borrow(b.ret, {b.n}), o.vf_clip);
    const at::Tensor total = policy_loss - policy.entropy * o.entropy_coeff + value_loss * o.vf_coeff;
    total.backward();
    StepStats s{};
    s.policy_loss = policy_loss.item<double>(), s.value_loss = value_loss.item<double>();
    s.entropy = policy.entropy.template item<double>(), s.total = total.item<double>();
    const at::Tensor moved = ratio.detach() - 1;
    s.kl = (moved - log_ratio.detach()).to(at::kDouble).mean().item<double>();
    s.clip_fraction = (moved.abs() > o.clip).to(at::kDouble).mean().item<double>();
    return s;
  }

  Net net_;
  T *params_ = nullptr, *gradient_ = nullptr;
};

}  // namespace

template <class T>
std::unique_ptr<Gradient<T>> TorchGradient(const Net& net) {
  return std::make_unique<Autograd<T>>(net);
}

template std::unique_ptr<Gradient<float>> TorchGradient(const Net&);
template std::unique_ptr<Gradient<double>> TorchGradient(const Net&);

}  // namespace backplane::ppo
