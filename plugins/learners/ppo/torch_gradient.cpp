// The loss in LibTorch with its gradient by autograd: the reference for the fused implementation.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "backplane/plugin.hpp"
#include "gradient.hpp"
#include "on_policy/torch_action.hpp"
#include "on_policy/torch_shards.hpp"
#include "torch/autocast.hpp"

namespace backplane::ppo {

namespace {

template <class T>
class Autograd final : public Gradient<T> {
 public:
  Autograd(const Net& net, const bp_host* host, const TorchOptions& options)
      : net_(net), host_(host), low_(LowType(options.amp)), shards_(host, options.devices, options.shards) {}

  void AllowSmallerParts(bool allowed) override { shards_.AllowSmaller(allowed); }

  StepStats Compute(const Minibatch<T>& batch, const LossOptions& options, const T* params, T* out) override {
    at::Tensor advantage;
    const auto prepare = [&] {
      advantage = Borrow(batch.advantage, {batch.n}, shards_.first());
      if (options.normalize_advantages) advantage = NormalizeAdvantages(advantage);
    };
    return shards_.Gradient(batch.n, net_.size, params, options.loss_scale, out, prepare,
                            [&](const Replica& on, int64_t from, int64_t to, double weight) {
                              const c10::AutoGradMode grad_mode(true);
                              const at::Tensor own = advantage.slice(0, from, to).to(on.device);
                              return BackwardLoss(Forward(PartOf(batch, from, to), own, on), options, weight);
                            });
  }

 private:
  // A tensor over the caller's memory, or its copy on a GPU.
  template <class V>
  static at::Tensor Borrow(const V* data, at::IntArrayRef shape, at::Device device,
                           at::ScalarType type = c10::CppTypeToScalarType<T>::value) {
    return at::from_blob(const_cast<V*>(data), shape, at::TensorOptions(type)).to(device);
  }

  struct Passes {
    at::Tensor latent, head, value;  // in T, [n] of the value
  };
  Passes Layers(const Minibatch<T>& b, const Replica& on) const {
    const TensorOf& leaf = on.leaf;
    const torch_common::Autocast autocast(on.device.type(), low_);
    at::Tensor obs = Borrow(b.obs, {b.n, net_.obs}, on.device);
    std::vector<at::Tensor> parts;
    for (size_t i = 0; i < net_.visions.size(); ++i) {
      const at::Tensor pixels = Borrow(b.pixels[i].data, {b.n, net_.visions[i].image.size()}, on.device, at::kByte);
      parts.push_back(TorchVision(net_.visions[i], pixels, obs.scalar_type(), leaf).to(obs.scalar_type()));
    }
    if (!parts.empty()) parts.push_back(obs), obs = at::cat(parts, 1);
    const at::Tensor latent = TorchHidden(net_.actor, obs, leaf), head = TorchLayer(net_.actor.head, latent, leaf),
                     value = TorchTower(net_.critic, net_.shared ? latent : obs, leaf).squeeze(1);
    const auto whole = [&](const at::Tensor& x) { return x.to(obs.scalar_type()); };
    return {whole(latent), whole(head), whole(value)};
  }

  // The log-deviations of the numbers.
  at::Tensor LogStd(const at::Tensor& latent, const Replica& on) const {
    if (!net_.sde) return on.leaf(net_.log_std, {net_.action.numbers});
    // No gradient through the latent: Stable-Baselines3's learn_features is off.
    const at::Tensor deviations = on.leaf(net_.log_std, {net_.latent(), net_.actions});
    return (latent.detach().square().matmul((deviations * 2).exp()) + kSdeVariance).log() * 0.5;
  }
  TorchTerm Policy(const Minibatch<T>& b, const at::Tensor& head, const at::Tensor& latent, const Replica& on) const {
    const Distributions& action = net_.action;
    const auto borrow = [&](const auto* data, int64_t width, auto... type) {
      return data ? Borrow(data, {b.n, width}, on.device, type...) : at::Tensor();
    };
    const TorchActions taken = {borrow(b.action, action.numbers), borrow(b.choice, action.choices, at::kLong),
                                borrow(b.mask, action.flags, at::kByte)};
    return ActionTerm(action, head, taken, action.numbers > 0 ? LogStd(latent, on) : at::Tensor());
  }

  // Samples [from, to); a gathered minibatch has no index.
  Minibatch<T> PartOf(const Minibatch<T>& b, int64_t from, int64_t to) const {
    const auto at = [from](auto* values, int64_t width) { return values ? values + from * width : values; };
    Minibatch<T> part = {to - from,
                         at(b.obs, net_.obs),
                         at(b.action, net_.action.numbers),
                         at(b.choice, net_.action.choices),
                         at(b.mask, net_.action.flags),
                         at(b.logp, 1),
                         at(b.advantage, 1),
                         at(b.ret, 1),
                         at(b.value, 1)};
    for (const Pixels& each : b.pixels) part.pixels.push_back({each.At(from), each.rows, each.step, each.row});
    return part;
  }

  TorchSamples Forward(const Minibatch<T>& b, const at::Tensor& advantage, const Replica& on) const {
    const bp::PhaseScope phase(host_, BP_PHASE_UPDATE_FORWARD);
    const Passes passes = Layers(b, on);
    const TorchTerm policy = Policy(b, passes.head, passes.latent, on);
    return {.logp = policy.logp,
            .old_logp = Borrow(b.logp, {b.n}, on.device),
            .advantage = advantage,
            .entropy = policy.entropy,
            .value = passes.value,
            .old_value = Borrow(b.value, {b.n}, on.device),
            .target = Borrow(b.ret, {b.n}, on.device)};
  }

  Net net_;
  const bp_host* host_;
  std::optional<at::ScalarType> low_;
  TorchShards shards_;
};

}  // namespace

template <class T>
std::unique_ptr<Gradient<T>> TorchGradient(const Net& net, const bp_host* host, const TorchOptions& options) {
  return std::make_unique<Autograd<T>>(net, host, options);
}

template std::unique_ptr<Gradient<float>> TorchGradient(const Net&, const bp_host*, const TorchOptions&);
template std::unique_ptr<Gradient<double>> TorchGradient(const Net&, const bp_host*, const TorchOptions&);

}  // namespace backplane::ppo
