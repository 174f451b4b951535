// DQN's loss in LibTorch with its gradient by autograd.
#include <ATen/ATen.h>

#include <limits>

#include "off_policy/torch_gradient.hpp"
#include "off_policy/torch_staged.hpp"
#include "torch_plugin.hpp"

namespace backplane::dqn {
namespace {

class Autograd final : public Gradients<float> {
 public:
  Autograd(const Net& net, bool double_q, const bp_host* host, const TorchOptions& options)
      : net_(net),
        double_q_(double_q),
        host_(host),
        low_(LowType(options.amp)),
        device_(torch_common::DeviceOf(options.devices.front())),
        staged_(device_) {}

  UpdateStats Compute(const Batch<float>& batch, const float* params, const float* target, float* out, float* errors) override {
    return WithBatchErrors([&] {
      Copy(batch, params, target);
      const at::Tensor flat = staged_.Get(params_), y = Targets(flat);
      const c10::AutoGradMode grad_mode(true);
      const FlatGradient gradient(flat);
      const at::Tensor choice = staged_.Get(action_, {n_, net_.stored()}).narrow(1, 0, 1).to(at::kLong);
      const at::Tensor q = Values(obs_, gradient.leaves()).gather(1, choice).squeeze(1);
      const at::Tensor each = at::huber_loss(q, y, at::Reduction::None, 1), weight = staged_.Get(weight_);
      const at::Tensor loss = (weight.defined() ? each * weight : each).mean();
      loss.backward();
      gradient.WriteTo(out);
      CopyTo(errors, (q.detach() - y).abs());
      return UpdateStats{loss.item<double>(), q.mean().item<double>()};
    });
  }

 private:
  void Copy(const Batch<float>& b, const float* params, const float* target) {
    const bp::PhaseScope phase(host_, BP_PHASE_BATCH_BUILD);
    n_ = b.n;
    staged_.Begin();
    params_ = staged_.Add(params, net_.size), target_ = staged_.Add(target, net_.size);
    const size_t obs = staged_.Add(b.obs.data(), n_ * net_.obs), next_obs = staged_.Add(b.next_obs.data(), n_ * net_.obs);
    action_ = staged_.Add(b.action.data(), n_ * net_.stored());
    next_action_ = staged_.Add(net_.masked ? b.next_action.data() : nullptr, n_ * net_.stored());
    reward_ = staged_.Add(b.reward.data(), n_), discount_ = staged_.Add(b.discount.data(), n_);
    weight_ = staged_.Add(b.weight.empty() ? nullptr : b.weight.data(), n_);
    staged_.Copy();
    obs_ = staged_.Get(obs, {n_, net_.obs}), next_obs_ = staged_.Get(next_obs, {n_, net_.obs});
  }

  // The values [n, choices].
  at::Tensor Values(const at::Tensor& obs, const TensorOf& part) const {
    const torch_common::Autocast autocast(device_.type(), low_);
    const at::Tensor head = TorchTower(net_.tower, obs, part);
    if (!net_.dueling) return head;
    const at::Tensor advantage = head.narrow(1, 0, net_.choices);
    return advantage + head.narrow(1, net_.choices, 1) - advantage.mean(1, /*keepdim=*/true);
  }

  // Without an allowed choice, the next observation has the value 0.
  at::Tensor Targets(const at::Tensor& flat) const {
    const c10::AutoGradMode grad_mode(false);
    const at::Tensor values = Values(next_obs_, PartsOf(staged_.Get(target_)));
    at::Tensor chooses = double_q_ ? Values(next_obs_, PartsOf(flat)) : values, dead;
    if (net_.masked) {
      const at::Tensor forbidden = staged_.Get(next_action_, {n_, net_.stored()}).narrow(1, 1, net_.choices).eq(0);
      chooses = chooses.masked_fill(forbidden, -std::numeric_limits<float>::infinity());
      dead = forbidden.all(1);
    }
    at::Tensor best = values.gather(1, chooses.argmax(1, /*keepdim=*/true)).squeeze(1);
    if (dead.defined()) best = best.masked_fill(dead, 0);
    return staged_.Get(reward_) + staged_.Get(discount_) * best;
  }

  Net net_;
  bool double_q_;
  const bp_host* host_;
  std::optional<at::ScalarType> low_;
  at::Device device_;
  Staged staged_;
  int64_t n_ = 0;
  size_t params_ = 0, target_ = 0, action_ = 0, next_action_ = 0, reward_ = 0, discount_ = 0, weight_ = 0;
  at::Tensor obs_, next_obs_;
};

std::unique_ptr<Gradients<float>> MakeGradients(const Net& net, const TrainerOptions& step, const bp_host* host,
                                                const TorchOptions& options) {
  return std::make_unique<Autograd>(net, step.double_q, host, options);
}

}  // namespace

const Part kTorchPart = {sizeof(Part), torch_common::HasCuda, MakeGradients, torch_common::MemoryOfPart()};

}  // namespace backplane::dqn
