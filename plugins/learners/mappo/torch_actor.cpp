// Acts with LibTorch on a device: all agents of a range in one pass. Observations are not copied if the env is on the same
// device; random numbers for exploration are copied once per call.
#include <c10/core/GradMode.h>

#include "actor.hpp"
#include "backplane/rng.h"
#include "on_policy/gaussian.hpp"
#include "on_policy/torch_action.hpp"
#include "on_policy/torch_net.hpp"
#include "torch/at_device.hpp"
#include "torch/errors.hpp"
#include "torch_model.hpp"

namespace backplane::mappo {
namespace {

class OnDevice final : public TorchActor {
 public:
  OnDevice(const Net& net, const EnvShape& shape, at::Device device, const bp_host* host)
      : net_(net),
        obs_(shape.obs),
        actions_(shape.actions),
        low_(BoundsOn(device, shape.low)),
        high_(BoundsOn(device, shape.high)),
        masked_(!shape.mask.empty()),
        mortal_(!shape.alive.empty()),
        shape_(shape),
        agents_(shape.agents),
        device_(device),
        host_(host) {
    shape_.declarations.clear();  // drop pointers that may become invalid
  }

  void Refresh(const float* params) override {
    flat_ = at::from_blob(const_cast<float*>(params), {net_.size}).to(device_, /*non_blocking=*/false, /*copy=*/true);
  }

  void Act(const bp_act& act) const override {
    torch_common::WithTorchErrors([&] {
      const c10::AutoGradMode grad_mode(false);
      const int64_t begin = static_cast<int64_t>(act.begin) * agents_, n = static_cast<int64_t>(act.end) * agents_ - begin;
      const auto rows = [&](const bp_tensor* tensor) { return torch_common::Borrow(*tensor).narrow(0, begin, n); };
      at::Tensor obs, mask, alive;
      {
        const bp::PhaseScope phase(host_, BP_PHASE_OBS_TRANSFER);
        std::vector<at::Tensor> parts;
        for (size_t i = 0; i < obs_.size(); ++i)
          parts.push_back(rows(act.in[i]).to(device_).to(at::kFloat).reshape({n, obs_[i].size}));
        obs = parts.size() == 1 ? parts[0] : at::cat(parts, 1);
        if (masked_) mask = rows(act.in[obs_.size()]).to(device_);
        if (mortal_) alive = LivingOf(act, device_);
      }
      const TensorOf part = PartsOf(flat_);
      const at::Tensor head = TorchTower(net_.actor, obs, part);
      const at::Tensor log_std = net_.log_stds() > 0 ? part(net_.log_std, {net_.log_stds()}) : at::Tensor();
      const TorchActions drawn = Draw(act, begin, head, mask, log_std);
      const at::Tensor logp = ActionTerm(net_.action, head, drawn, log_std).logp;
      const at::Tensor away = mortal_ ? alive.eq(0) : at::Tensor();
      const auto living = [&](const at::Tensor& of) {
        return mortal_ ? of.masked_fill(of.dim() > 1 ? away.unsqueeze(1) : away, 0) : of;
      };
      const bp::PhaseScope phase(host_, BP_PHASE_ACT_TRANSFER);
      const auto put = [&](const bp_tensor* to, const at::Tensor& from) { rows(to).copy_(from.view_as(rows(to))); };
      for (size_t c = 0; c < actions_.size(); ++c) put(act.out[c], Of(actions_[c], drawn, living));
      put(act.out[actions_.size() + kLogp], living(logp));
      if (net_.log_stds() > 0) put(act.out[actions_.size() + kRawAction], living(drawn.numbers));
    });
  }

 private:
  // ALIVE of these agents in the rows of the call.
  at::Tensor LivingOf(const bp_act& act, at::Device device) const {
    const at::Tensor all = torch_common::Borrow(*act.in[obs_.size() + masked_]).to(device);
    const auto begin = static_cast<int64_t>(act.begin), rows = static_cast<int64_t>(act.end) - begin;
    return all.view({-1, shape_.row_agents}).narrow(0, begin, rows).narrow(1, shape_.first, agents_).reshape({-1});
  }
  static at::Tensor BoundsOn(at::Device device, const std::vector<float>& bounds) {
    return at::from_blob(const_cast<float*>(bounds.data()), {static_cast<int64_t>(bounds.size())}, at::kFloat)
        .to(device, /*non_blocking=*/false, /*copy=*/true);
  }

  // The values of a channel, 0 or the nearest bound for agents that do not live.
  template <class Living>
  at::Tensor Of(const ActionChannel& channel, const TorchActions& drawn, Living&& living) const {
    const Distribution& first = net_.action.each[channel.first];
    if (channel.space != BP_SPACE_BOX) return living(drawn.choices.narrow(1, first.choice, channel.elements));
    const auto own = [&](const at::Tensor& of) { return of.narrow(-1, first.number, channel.elements); };
    return living(own(drawn.numbers)).clamp(own(low_), own(high_));
  }

  // Each agent has its own stream, as in DrawAction. Choices are the first at which the cumulative probability exceeds a
  // uniform number, in double.
  TorchActions Draw(const bp_act& act, int64_t begin, const at::Tensor& head, const at::Tensor& mask,
                    const at::Tensor& log_std) const {
    const int64_t n = head.size(0);
    const bool greedy = act.flags & BP_ACT_GREEDY;
    std::vector<double> normals(n * net_.action.numbers), uniforms(n * net_.action.choices);
    for (int64_t i = 0; i < n && !greedy; ++i) {
      const auto agent =
          act.row_base * static_cast<uint64_t>(shape_.row_agents) + static_cast<uint64_t>(shape_.InAll(begin + i));
      const uint64_t key = bp_seed(act.seed, BP_PURPOSE_ACT, static_cast<uint32_t>(agent), act.step);
      FillNormals(key, net_.action.numbers, normals.data() + i * net_.action.numbers);
      bp_rng stream{key, net_.action.numbers > 0 ? kChoicesBesideNumbers : 0};
      for (int64_t k = 0; k < net_.action.choices; ++k) uniforms[i * net_.action.choices + k] = bp_rng_uniform(&stream);
    }
    const auto on = [&](std::vector<double>& from, int64_t width) {
      return at::from_blob(from.data(), {n, width}, at::kDouble).to(device_);
    };
    TorchActions drawn{.mask = mask};
    const at::Tensor uniform = on(uniforms, net_.action.choices), noise = on(normals, net_.action.numbers);
    std::vector<at::Tensor> numbers, choices;
    for (const Distribution& part : net_.action.each) {
      const at::Tensor own = head.narrow(1, part.output, part.n);
      if (part.kind == Kind::kGaussian)
        numbers.push_back(own.to(at::kDouble) +
                          noise.narrow(1, part.number, part.n) * log_std.narrow(0, part.number, part.n).to(at::kDouble).exp());
      else if (part.kind == Kind::kBits)
        choices.push_back(greedy ? own > 0
                                 : uniform.narrow(1, part.choice, part.n) * (own.to(at::kDouble).neg().exp() + 1) < 1);
      else
        choices.push_back(Choose(own, mask.defined() ? mask.narrow(1, part.flag, part.n) : mask,
                                 greedy ? at::Tensor() : uniform.narrow(1, part.choice, 1)));
    }
    if (!numbers.empty()) drawn.numbers = at::cat(numbers, 1).to(at::kFloat);
    for (at::Tensor& each : choices) each = each.to(at::kLong);
    if (!choices.empty()) drawn.choices = at::cat(choices, 1);
    return drawn;
  }
  // uniform [n, 1]; undefined: the likeliest choices.
  static at::Tensor Choose(const at::Tensor& logits, const at::Tensor& mask, const at::Tensor& uniform) {
    const at::Tensor log_probs = MaskedLogSoftmax(logits, mask);
    if (!uniform.defined()) return log_probs.argmax(1, /*keepdim=*/true);
    const at::Tensor sums = log_probs.to(at::kDouble).exp().cumsum(1);
    return (sums <= uniform * sums.narrow(1, sums.size(1) - 1, 1)).sum(1, /*keepdim=*/true);
  }

  Net net_;
  std::vector<Seen> obs_;
  std::vector<ActionChannel> actions_;
  at::Tensor low_, high_;  // of each number
  bool masked_, mortal_;
  EnvShape shape_;
  int64_t agents_;
  at::Device device_;
  const bp_host* host_;
  at::Tensor flat_;
};

}  // namespace

std::unique_ptr<TorchActor> MakeTorchActor(const Net& net, const EnvShape& shape, bp_device device, const bp_host* host) {
  return std::make_unique<OnDevice>(net, shape, torch_common::DeviceOf(device), host);
}

}  // namespace backplane::mappo
