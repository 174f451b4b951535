#include "off_policy/torch_actor_critic.hpp"

#include "off_policy/torch_gradient.hpp"
#include "off_policy/torch_staged.hpp"

namespace backplane::off_policy {
namespace {

class Autograd final : public ActorCriticGradients<float> {
 public:
  Autograd(const Net& net, TorchPolicy policy, const bp_host* host, const TorchOptions& options)
      : net_(net),
        policy_(std::move(policy)),
        host_(host),
        low_(LowType(options.amp)),
        device_(torch_common::DeviceOf(options.devices.front())),
        step_(device_),
        stepped_(device_) {}

  ValueStep Critics(const Batch<float>& batch, const Draws& draws, const Params& params, float* out, float* errors) override {
    return WithBatchErrors([&] {
      Copy(batch, draws, params);
      const at::Tensor y = Targets();
      const c10::AutoGradMode grad_mode(true);
      const FlatGradient gradient(step_.Get(critics_));
      const at::Tensor q = Values(gradient.leaves(), obs_, step_.Get(action_, {n_, net_.actions}));
      const at::Tensor error = q - y, squares = error.square(), weight = step_.Get(weight_);
      const at::Tensor loss = (weight.defined() ? squares * weight : squares).mean(1).sum() * 0.5;
      loss.backward();
      gradient.WriteTo(out);
      CopyTo(errors, error.detach().abs().mean(0));
      return ValueStep{loss.item<double>(), q.mean().item<double>()};
    });
  }

  ActorStep Actor(const Params& params, float* out) override {
    return WithBatchErrors([&] {
      stepped_.Begin();
      stepped_.Add(params.critics, net_.critics_size);
      stepped_.Copy();
      const c10::AutoGradMode grad_mode(true);
      const FlatGradient gradient(step_.Get(actor_));
      const TorchChoice chosen = policy_.present(Head(gradient.leaves(), obs_), step_.Get(noise_, {n_, net_.actions}));
      const at::Tensor q = Values(PartsOf(stepped_.Get(0)), obs_, chosen.action);
      const at::Tensor value = policy_.smaller ? std::get<0>(q.min(0)) : q.select(0, 0);
      const at::Tensor loss = (chosen.logp.defined() ? chosen.logp * alpha_ - value : -value).mean();
      loss.backward();
      gradient.WriteTo(out);
      return ActorStep{loss.item<double>(), chosen.logp.defined() ? chosen.logp.mean().item<double>() : 0};
    });
  }

 private:
  void Copy(const Batch<float>& b, const Draws& draws, const Params& params) {
    const bp::PhaseScope phase(host_, BP_PHASE_BATCH_BUILD);
    n_ = b.n, alpha_ = draws.alpha;
    step_.Begin();
    actor_ = step_.Add(params.actor, net_.actor_size);
    next_actor_ = params.next_actor == params.actor ? actor_ : step_.Add(params.next_actor, net_.actor_size);
    critics_ = step_.Add(params.critics, net_.critics_size), targets_ = step_.Add(params.targets, net_.critics_size);
    const size_t obs = step_.Add(b.obs.data(), n_ * net_.obs), next_obs = step_.Add(b.next_obs.data(), n_ * net_.obs);
    action_ = step_.Add(b.action.data(), n_ * net_.actions);
    reward_ = step_.Add(b.reward.data(), n_), discount_ = step_.Add(b.discount.data(), n_);
    weight_ = step_.Add(b.weight.empty() ? nullptr : b.weight.data(), n_);
    noise_ = step_.Add(draws.noise, n_ * net_.actions), next_noise_ = step_.Add(draws.next_noise, n_ * net_.actions);
    step_.Copy();
    obs_ = step_.Get(obs, {n_, net_.obs}), next_obs_ = step_.Get(next_obs, {n_, net_.obs});
  }

  at::Tensor Targets() const {
    const c10::AutoGradMode grad_mode(false);
    const TorchChoice next =
        policy_.next(Head(PartsOf(step_.Get(next_actor_)), next_obs_), step_.Get(next_noise_, {n_, net_.actions}));
    at::Tensor value = std::get<0>(Values(PartsOf(step_.Get(targets_)), next_obs_, next.action).min(0));
    if (next.logp.defined()) value = value - next.logp * alpha_;
    return step_.Get(reward_) + step_.Get(discount_) * value;
  }
  at::Tensor Head(const TensorOf& part, const at::Tensor& obs) const {
    const torch_common::Autocast autocast(device_.type(), low_);
    return TorchTower(net_.actor, obs, part);
  }
  // [2, n]
  at::Tensor Values(const TensorOf& part, const at::Tensor& obs, const at::Tensor& action) const {
    const torch_common::Autocast autocast(device_.type(), low_);
    const at::Tensor input = at::cat({obs, action}, 1);
    return at::stack(
        {TorchTower(net_.critics[0], input, part).squeeze(1), TorchTower(net_.critics[1], input, part).squeeze(1)});
  }

  Net net_;
  TorchPolicy policy_;
  const bp_host* host_;
  std::optional<at::ScalarType> low_;
  at::Device device_;
  Staged step_, stepped_;  // of a gradient step; the critics after theirs
  int64_t n_ = 0;
  double alpha_ = 0;
  size_t actor_ = 0, next_actor_ = 0, critics_ = 0, targets_ = 0, action_ = 0, reward_ = 0, discount_ = 0, weight_ = 0;
  size_t noise_ = 0, next_noise_ = 0;
  at::Tensor obs_, next_obs_;
};

}  // namespace

std::unique_ptr<ActorCriticGradients<float>> TorchActorCritic(const Net& net, TorchPolicy policy, const bp_host* host,
                                                              const TorchOptions& options) {
  return std::make_unique<Autograd>(net, std::move(policy), host, options);
}

}  // namespace backplane::off_policy
