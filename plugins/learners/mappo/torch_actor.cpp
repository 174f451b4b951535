// Acts with LibTorch on a device: all agents of a range in one pass. Observations are not copied if the env is on the same
// device; random numbers for exploration are copied once per call.
#include <c10/core/GradMode.h>

#include "backplane/rng.h"
#include "on_policy/torch_loss.hpp"
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
        masked_(!shape.mask.empty()),
        mortal_(!shape.alive.empty()),
        agents_(shape.agents),
        device_(device),
        host_(host) {}

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
        if (mortal_) alive = rows(act.in[obs_.size() + masked_]).to(device_);
      }
      const at::Tensor log_probs = MaskedLogSoftmax(TorchTower(net_.actor, obs, PartsOf(flat_)), mask);
      at::Tensor choice = act.flags & BP_ACT_GREEDY ? log_probs.argmax(1) : Draw(act, begin, log_probs);
      at::Tensor logp = log_probs.gather(1, choice.unsqueeze(1)).squeeze(1);
      if (mortal_) choice = choice * alive, logp = logp * alive;
      const bp::PhaseScope phase(host_, BP_PHASE_ACT_TRANSFER);
      rows(act.out[0]).copy_(choice);
      rows(act.out[1]).copy_(logp);
    });
  }

 private:
  // The first choice at which the cumulative probability exceeds a uniform number, in double; each agent has its own stream.
  at::Tensor Draw(const bp_act& act, int64_t begin, const at::Tensor& log_probs) const {
    const int64_t n = log_probs.size(0);
    std::vector<double> uniform(n);
    for (int64_t i = 0; i < n; ++i) {
      const auto agent = act.row_base * static_cast<uint64_t>(agents_) + static_cast<uint64_t>(begin + i);
      bp_rng stream{bp_seed(act.seed, BP_PURPOSE_ACT, static_cast<uint32_t>(agent), act.step), 0};
      uniform[i] = bp_rng_uniform(&stream);
    }
    const at::Tensor sums = log_probs.to(at::kDouble).exp().cumsum(1);
    const at::Tensor mark =
        at::from_blob(uniform.data(), {n, 1}, at::kDouble).to(device_) * sums.narrow(1, net_.actions - 1, 1);
    return (sums <= mark).sum(1);
  }

  Net net_;
  std::vector<Seen> obs_;
  bool masked_, mortal_;
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
