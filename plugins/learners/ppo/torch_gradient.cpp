// The loss as LibTorch computes it, with the gradient by autograd: what the fused path is measured against.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>

#include "gradient.hpp"
#include "torch/errors.hpp"
#include "torch/losses.hpp"

namespace backplane::ppo {

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
      const at::Tensor log_probs = torch_common::MaskedLogSoftmax(head, mask);
      return {log_probs.gather(1, Borrow(b.choice, {b.n, 1}, at::kLong)).squeeze(1),
              torch_common::CategoricalEntropy(log_probs).mean()};
    }
    at::Tensor log_std;
    if (net_.sde) {
      // No gradient through the latent: Stable-Baselines3's learn_features is off.
      const at::Tensor deviations = Leaf(net_.log_std, {net_.latent(), net_.actions});
      log_std = (latent.detach().square().matmul((deviations * 2).exp()) + kSdeVariance).log() * 0.5;
    } else {
      log_std = Leaf(net_.log_std, {net_.actions});
    }
    return {torch_common::GaussianLogp(Borrow(b.action, {b.n, net_.actions}), head, log_std),
            torch_common::GaussianEntropy(log_std).mean()};
  }

  StepStats Step(const Minibatch<T>& b, const LossOptions& o) const {
    const at::Tensor obs = Borrow(b.obs, {b.n, net_.obs}), latent = Hidden(net_.actor, obs);
    at::Tensor advantage = Borrow(b.advantage, {b.n});
    if (o.normalize_advantages) advantage = torch_common::NormalizeAdvantages(advantage);
    const Chosen policy = Policy(b, latent);
    const at::Tensor log_ratio = policy.logp - Borrow(b.logp, {b.n}), ratio = log_ratio.exp();
    const at::Tensor policy_loss = torch_common::ClippedSurrogate(ratio, advantage, o.clip);
    const at::Tensor value = Linear(net_.value, net_.shared ? latent : Hidden(net_.critic, obs)).squeeze(1);
    const at::Tensor value_loss = torch_common::ValueLoss(value, Borrow(b.value, {b.n}), Borrow(b.ret, {b.n}), o.vf_clip, 0);
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
