// The loss in LibTorch with its gradient by autograd: the reference for the fused implementation.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>

#include "backplane/plugin.hpp"
#include "gradient.hpp"
#include "on_policy/torch_loss.hpp"
#include "on_policy/torch_net.hpp"
#include "on_policy/torch_pieces.hpp"
#include "torch/at_device.hpp"
#include "torch/autocast.hpp"
#include "torch/errors.hpp"

namespace backplane::ppo {

namespace {

template <class T>
class Autograd final : public Gradient<T> {
 public:
  Autograd(const Net& net, const bp_host* host, bp_device device, Amp amp)
      : net_(net), host_(host), device_(torch_common::DeviceOf(device)), low_(LowType(amp)), pieces_(host, device) {}

  void AllowSmallerParts(bool allowed) override { pieces_.AllowSmaller(allowed); }

  StepStats Compute(const Minibatch<T>& batch, const LossOptions& options, const T* params, T* out) override {
    const c10::AutoGradMode grad_mode(true);
    at::Tensor gradient, advantage;
    TensorOf leaf;
    const auto begin = [&] {
      gradient = at::Tensor(), std::fill_n(out, net_.size, T{0});
      gradient = Borrow(out, {net_.size});  // on a GPU: a copy
      leaf = LeavesOf(Borrow(params, {net_.size}), gradient);
      advantage = Borrow(batch.advantage, {batch.n});
      if (options.normalize_advantages) advantage = NormalizeAdvantages(advantage);
    };
    const StepStats stats = pieces_.Sum(batch.n, begin, [&](int64_t from, int64_t to, double weight) {
      const TorchSamples samples = Forward(PartOf(batch, from, to), advantage.slice(0, from, to), leaf);
      return BackwardLoss(samples, options, weight);
    });
    torch_common::WithTorchErrors([&] {
      if (options.loss_scale != 1) gradient.mul_(1 / options.loss_scale);
      if (!device_.is_cpu()) at::from_blob(out, {net_.size}, gradient.dtype()).copy_(gradient);
    });
    return stats;
  }

 private:
  // A tensor over the caller's memory, or its copy on a GPU.
  template <class V>
  at::Tensor Borrow(const V* data, at::IntArrayRef shape, at::ScalarType type = c10::CppTypeToScalarType<T>::value) const {
    return at::from_blob(const_cast<V*>(data), shape, at::TensorOptions(type)).to(device_);
  }

  struct Passes {
    at::Tensor latent, head, value;  // in T, [n] of the value
  };
  Passes Layers(const at::Tensor& obs, const TensorOf& leaf) const {
    const torch_common::Autocast autocast(device_.type(), low_);
    const at::Tensor latent = TorchHidden(net_.actor, obs, leaf), head = TorchLayer(net_.actor.head, latent, leaf),
                     value = TorchTower(net_.critic, net_.shared ? latent : obs, leaf).squeeze(1);
    const auto whole = [&](const at::Tensor& x) { return x.to(obs.scalar_type()); };
    return {whole(latent), whole(head), whole(value)};
  }

  struct Chosen {
    at::Tensor logp, entropy;  // [n]; the mean
  };
  Chosen Policy(const Minibatch<T>& b, const at::Tensor& head, const at::Tensor& latent, const TensorOf& leaf) const {
    if (net_.discrete) {
      const at::Tensor mask = b.mask ? Borrow(b.mask, {b.n, net_.actions}, at::kByte) : at::Tensor();
      const at::Tensor log_probs = MaskedLogSoftmax(head, mask);
      return {log_probs.gather(1, Borrow(b.choice, {b.n, 1}, at::kLong)).squeeze(1), CategoricalEntropy(log_probs).mean()};
    }
    at::Tensor log_std;
    if (net_.sde) {
      // No gradient through the latent: Stable-Baselines3's learn_features is off.
      const at::Tensor deviations = leaf(net_.log_std, {net_.latent(), net_.actions});
      log_std = (latent.detach().square().matmul((deviations * 2).exp()) + kSdeVariance).log() * 0.5;
    } else {
      log_std = leaf(net_.log_std, {net_.actions});
    }
    return {GaussianLogp(Borrow(b.action, {b.n, net_.actions}), head, log_std), GaussianEntropy(log_std).mean()};
  }

  // Samples [from, to); a gathered minibatch has no index.
  Minibatch<T> PartOf(const Minibatch<T>& b, int64_t from, int64_t to) const {
    const auto at = [from](auto* values, int64_t width) { return values ? values + from * width : values; };
    return {to - from,
            at(b.obs, net_.obs),
            at(b.action, net_.actions),
            at(b.choice, 1),
            at(b.mask, net_.actions),
            at(b.logp, 1),
            at(b.advantage, 1),
            at(b.ret, 1),
            at(b.value, 1)};
  }

  TorchSamples Forward(const Minibatch<T>& b, const at::Tensor& advantage, const TensorOf& leaf) const {
    const bp::PhaseScope phase(host_, BP_PHASE_UPDATE_FORWARD);
    const Passes passes = Layers(Borrow(b.obs, {b.n, net_.obs}), leaf);
    const Chosen policy = Policy(b, passes.head, passes.latent, leaf);
    return {.logp = policy.logp,
            .old_logp = Borrow(b.logp, {b.n}),
            .advantage = advantage,
            .entropy = policy.entropy,
            .value = passes.value,
            .old_value = Borrow(b.value, {b.n}),
            .target = Borrow(b.ret, {b.n})};
  }

  Net net_;
  const bp_host* host_;
  at::Device device_;
  std::optional<at::ScalarType> low_;
  Pieces pieces_;
};

}  // namespace

template <class T>
std::unique_ptr<Gradient<T>> TorchGradient(const Net& net, const bp_host* host, bp_device device, Amp amp) {
  return std::make_unique<Autograd<T>>(net, host, device, amp);
}

template std::unique_ptr<Gradient<float>> TorchGradient(const Net&, const bp_host*, bp_device, Amp);
template std::unique_ptr<Gradient<double>> TorchGradient(const Net&, const bp_host*, bp_device, Amp);

}  // namespace backplane::ppo
