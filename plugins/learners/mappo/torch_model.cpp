// The model by LibTorch: values, and the gradient by autograd.
#include "torch_model.hpp"

#include <c10/core/GradMode.h>

#include <algorithm>
#include <deque>

#include "observed.hpp"
#include "on_policy/torch_action.hpp"
#include "on_policy/torch_net.hpp"
#include "on_policy/torch_shards.hpp"
#include "torch/at_device.hpp"
#include "torch/autocast.hpp"
#include "torch/errors.hpp"

namespace backplane::mappo {
namespace {

constexpr int64_t kValues = 4096;  // samples per pass without a gradient

template <class T>
at::Tensor CopyOf(const std::vector<T>& values, at::IntArrayRef shape, at::Device device) {
  return at::from_blob(const_cast<T*>(values.data()), shape, at::TensorOptions(c10::CppTypeToScalarType<T>::value))
      .to(device, /*non_blocking=*/false, /*copy=*/true);
}

class Autograd final : public TorchModel {
 public:
  Autograd(const Net& net, const EnvShape& shape, const TorchOptions& options, const bp_host* host)
      : net_(net),
        obs_parts_(shape.obs),
        state_parts_(shape.state),
        host_(host),
        low_(LowType(options.amp)),
        shards_(host, options.devices, options.shards),
        device_(shards_.first()),
        critic_device_(options.critic_device ? std::optional(torch_common::DeviceOf(*options.critic_device)) : std::nullopt) {}

  void UseAmp(Amp amp) override { low_ = LowType(amp); }
  void AllowSmallerParts(bool allowed) override { shards_.AllowSmaller(allowed); }

  bp::Delivery OnHost(const bp::Delivery& delivery) override {
    const bp_delivery& raw = delivery.raw();
    copies_.clear(), tensors_.assign(raw.tensors, raw.tensors + raw.n_tensors);
    for (uint64_t i = 0; i < raw.n_tensors; ++i) {
      bp_tensor*& tensor = tensors_[i];
      if (tensor->device.type == BP_DEVICE_CPU || IsLarge(raw.names[i])) continue;
      Copy& copy = copies_.emplace_back();
      copy.data = torch_common::Borrow(*tensor).cpu().contiguous();
      copy.view = *tensor;
      copy.view.data = copy.data.data_ptr(), copy.view.device = {BP_DEVICE_CPU, 0};
      copy.strides.assign(copy.data.strides().begin(), copy.data.strides().end());
      copy.view.strides = copy.strides.data();
      tensor = &copy.view;
    }
    on_host_ = raw;
    on_host_.tensors = tensors_.data();
    return bp::Delivery(&on_host_);
  }

  void Take(const bp::Delivery& delivery, const Streams& streams, const Samples& samples) override {
    torch_common::WithTorchErrors([&] {
      obs_ = Entries(delivery, obs_parts_, {samples.place, streams.agents()});
      std::vector<int64_t> agent, final_agent, row, final_row;
      for (const Streams::Bootstrap& b : streams.bootstraps()) {
        agent.push_back(b.entry * streams.agents() + b.place % streams.agents()), final_agent.push_back(b.final_agent);
        row.push_back(b.entry * streams.rows() + b.env_step % streams.rows()), final_row.push_back(b.final);
      }
      const auto of_the_critic = [&](const at::Tensor& tensor) { return tensor.to(critic_device_.value_or(device_)); };
      next_obs_ = of_the_critic(Following(delivery, obs_parts_, {agent, streams.agents()}, final_agent));
      if (net_.state == 0) return;
      state_ = of_the_critic(Entries(delivery, state_parts_, {samples.env_step, streams.rows()}));
      step_of_ = CopyOf(samples.step_of, {samples.n}, state_.device());
      next_state_ = of_the_critic(Following(delivery, state_parts_, {row, streams.rows()}, final_row));
    });
  }

  void Values(const float* params, float* out_samples, float* out_bootstraps) override {
    torch_common::WithTorchErrors([&] {
      const c10::AutoGradMode grad_mode(false);
      const at::Device device = critic_device_.value_or(device_);
      const TensorOf part = PartsOf(at::from_blob(const_cast<float*>(params), {net_.size}).to(device));
      const at::Tensor no_step;
      Values(part, obs_, state_, step_of_, out_samples);
      Values(part, next_obs_, next_state_, no_step, out_bootstraps);
    });
  }

  StepStats Gradient(const Minibatch& batch, const LossOptions& options, const float* params, float* out) override {
    return shards_.Gradient(
        batch.n(), net_.size, params, options.loss_scale, out, [] {},
        [&](const Replica& on, int64_t from, int64_t to, double weight) {
          const c10::AutoGradMode grad_mode(true);
          const auto index = batch.index.subspan(static_cast<size_t>(from), static_cast<size_t>(to - from));
          return BackwardLoss(Forward({batch.samples, index, batch.advantage, batch.target}, on), options, weight);
        });
  }

 private:
  struct Copy {
    at::Tensor data;
    bp_tensor view;
    std::vector<int64_t> strides;
  };

  bool IsLarge(const std::string& name) const {
    const auto has = [&](const std::vector<Seen>& parts) {
      return std::any_of(parts.begin(), parts.end(), [&](const Seen& p) { return p.name == name || p.final_name == name; });
    };
    return has(obs_parts_) || has(state_parts_);
  }

  // Concatenates make(part) [n, size of the part] of all parts as float32 on the device.
  template <class Make>
  at::Tensor Joined(const std::vector<Seen>& parts, Make&& make) const {
    std::vector<at::Tensor> pieces;
    for (const Seen& part : parts) {
      const at::Tensor piece = make(part).to(device_).to(at::kFloat);  // int8 is copied to a GPU before the conversion
      pieces.push_back(piece.reshape({piece.size(0), part.size}));
    }
    return pieces.size() == 1 ? pieces[0] : at::cat(pieces, 1);
  }

  // Entries i / width, i % width of a rollout [steps + 1, width, ...].
  struct Places {
    const std::vector<int64_t>& index;
    int64_t width;
  };
  at::Tensor At(const bp::Delivery& delivery, const Seen& part, const Places& places) const {
    const at::Tensor from = torch_common::Borrow(*Wanted(delivery, part.name));
    const at::Tensor i = CopyOf(places.index, {static_cast<int64_t>(places.index.size())}, from.device());
    const c10::List<std::optional<at::Tensor>> at{i.div(places.width, "floor"), i.remainder(places.width)};
    return at::index(from, at);
  }

  at::Tensor Entries(const bp::Delivery& delivery, const std::vector<Seen>& parts, const Places& places) const {
    return Joined(parts, [&](const Seen& part) { return At(delivery, part, places); });
  }

  // The final observations if final >= 0, else entries of the rollout.
  at::Tensor Following(const bp::Delivery& delivery, const std::vector<Seen>& parts, const Places& places,
                       const std::vector<int64_t>& final) const {
    return Joined(parts, [&](const Seen& part) {
      const auto n = static_cast<int64_t>(places.index.size());
      at::Tensor rows = At(delivery, part, places);
      const bp_tensor* finals = delivery.Find(part.final_name.c_str());
      if (finals && finals->shape[0] > 0) {
        const at::Tensor index = CopyOf(final, {n}, rows.device());
        const at::Tensor ended = torch_common::Borrow(*finals).index_select(0, index.clamp_min(0));
        std::vector<int64_t> shape(rows.dim(), 1);
        shape[0] = n;
        rows = at::where((index >= 0).view(shape), ended, rows);
      }
      return rows;
    });
  }

  // step: row of `state` for each row of obs; undefined: the same row.
  at::Tensor Value(const TensorOf& part, const at::Tensor& obs, const at::Tensor& state, const at::Tensor& step) const {
    const at::Tensor x = net_.state == 0 ? obs : at::cat({step.defined() ? state.index_select(0, step) : state, obs}, 1);
    return TorchTower(net_.critic, x, part).squeeze(1);
  }

  void Values(const TensorOf& part, const at::Tensor& obs, const at::Tensor& state, const at::Tensor& step, float* out) const {
    for (int64_t at = 0; at < obs.size(0); at += kValues) {
      const int64_t n = std::min(kValues, obs.size(0) - at);
      const auto cut = [&](const at::Tensor& of) { return of.defined() ? of.narrow(0, at, n) : of; };
      const at::Tensor rows = cut(obs).to(critic_device_.value_or(device_));
      at::from_blob(out + at, {n}).copy_(Value(part, rows, step.defined() ? state : cut(state), cut(step)));
    }
  }

  template <class T, class At>
  static at::Tensor Column(const Minibatch& b, at::Device device, At&& at) {
    std::vector<T> values;
    for (int32_t i : b.index) values.push_back(static_cast<T>(at(i)));
    return CopyOf(values, {b.n()}, device);
  }

  // [samples, width] of the minibatch.
  template <class T>
  static at::Tensor Rows(const Minibatch& b, at::Device device, const std::vector<T>& from, int64_t width) {
    if (from.empty() || width == 0) return {};
    std::vector<T> values(b.index.size() * static_cast<size_t>(width));
    for (size_t i = 0; i < b.index.size(); ++i)
      std::copy_n(from.begin() + b.index[i] * width, width, values.begin() + static_cast<int64_t>(i) * width);
    return CopyOf(values, {b.n(), width}, device);
  }
  TorchTerm Policy(const Minibatch& b, const at::Tensor& head, const Replica& on) const {
    const Samples& s = b.samples;
    const TorchActions taken = {Rows(b, on.device, s.numbers, net_.action.numbers),
                                Rows(b, on.device, s.choice, net_.action.choices),
                                Rows(b, on.device, s.mask, net_.action.flags)};
    const at::Tensor log_std = net_.log_stds() > 0 ? on.leaf(net_.log_std, {net_.log_stds()}) : at::Tensor();
    return ActionTerm(net_.action, head, taken, log_std);
  }

  // Observations stay on the first device and states on the critic's, from which a shard's entries are copied to its own. A
  // critic on a device of its own gets copies of its parameters; autograd returns their gradients.
  TorchSamples Forward(const Minibatch& b, const Replica& on) const {
    const Samples& s = b.samples;
    const at::Device device = on.device;
    const at::Device critic_device = critic_device_.value_or(device);
    const at::Tensor index = Column<int64_t>(b, device_, [](int32_t i) { return i; });
    const auto entries = [&](const at::Tensor& of, const at::Tensor& at) { return of.index_select(0, at).to(device); };
    const at::Tensor obs = entries(obs_, index);
    at::Tensor head, value, state;
    if (net_.state > 0) state = state_.index_select(0, step_of_.index_select(0, index.to(state_.device()))).to(critic_device);
    {
      const bp::PhaseScope phase(host_, BP_PHASE_UPDATE_FORWARD);
      const torch_common::Autocast autocast(device.type(), low_);
      head = TorchTower(net_.actor, obs, on.leaf);
      const TensorOf there = [&](int64_t offset, at::IntArrayRef size) { return on.leaf(offset, size).to(critic_device); };
      value = Value(there, obs.to(critic_device), state, at::Tensor()).to(device);
    }
    const TorchTerm policy = Policy(b, head, on);
    const auto scaled = [](const Scaling& by, float x) { return (x - by.mean) * by.scale; };
    return {.logp = policy.logp,
            .old_logp = Column<float>(b, device, [&](int32_t i) { return s.logp[i]; }),
            .advantage = Column<float>(b, device, [&](int32_t i) { return scaled(b.advantage, s.advantage[i]); }),
            .entropy = policy.entropy,
            .value = value,
            .old_value = Column<float>(b, device, [&](int32_t i) { return s.value[i]; }),
            .target = Column<float>(b, device, [&](int32_t i) { return scaled(b.target, s.ret[i]); })};
  }

  Net net_;
  std::vector<Seen> obs_parts_, state_parts_;
  const bp_host* host_;
  std::optional<at::ScalarType> low_;
  TorchShards shards_;
  at::Device device_;                        // the first
  std::optional<at::Device> critic_device_;  // absent: the critic is on the shard's device
  at::Tensor obs_, state_, step_of_, next_obs_, next_state_;
  std::deque<Copy> copies_;
  std::vector<bp_tensor*> tensors_;
  bp_delivery on_host_{};
};

}  // namespace

std::unique_ptr<TorchModel> MakeTorchModel(const Net& net, const EnvShape& shape, const TorchOptions& options,
                                           const bp_host* host) {
  return std::make_unique<Autograd>(net, shape, options, host);
}

}  // namespace backplane::mappo
