#include "learner.hpp"

#include <algorithm>

#include "on_policy/amp.hpp"
#include "on_policy/parallel.hpp"
#include "on_policy/parts.hpp"
#include "rl/policy_form.hpp"
#include "state.hpp"
#include "torch_part.hpp"

namespace backplane::mappo {

Learner::Learner(const bp::LearnerSetup& setup) : Learner(setup, kOptions.Read(setup.config), EnvShape(setup.env)) {}

Learner::Learner(const bp::LearnerSetup& setup, const Options& options, const EnvShape& shape)
    : Learner(setup, options, shape, MakeNet(options, shape)) {}

Learner::Learner(const bp::LearnerSetup& setup, const Options& options, const EnvShape& shape, const Net& net)
    : on_policy::Learner(setup, net.size, "a smaller lr or reward_scale may help"),
      options_(options),
      shape_(shape),
      horizon_(options_.Horizon(rows_, shape.max_episode_steps)),
      net_(net),
      actor_(net_, shape),
      streams_(shape, rows_, options_.gamma, options_.lambda, options_.reward_scale, options_.bootstrap_truncated),
      batch_(shape, options_.memory) {
  metrics_.Declare({"train/alive_share", nullptr, 0, "share of the agents' steps in which the agent was alive"});
  on_policy::CheckBootstrap(*setup.env, options_);
  shape_.declarations.clear();  // drop pointers that may become invalid
  InitParams(net_, seed_, options_.ortho_init, options_.log_std_init, optimizer_.params());
  ChooseModel(setup.env);
  DescribeSpec(shape);
  Refresh();
}

void Learner::Save(const bp::Writer& writer) const {
  WriteState(writer, ShapeOf(net_), optimizer_, value_norm_, {epochs_done_, version()});
  SaveScale(writer);
}

void Learner::Tensors(bp::NamedTensors* out) const {
  TellTower(net_.actor, "actor", optimizer_.params(), out);
  if (net_.log_stds() > 0) out->Add("actor.log_std", optimizer_.params() + net_.log_std, {net_.log_stds()});
  TellTower(net_.critic, "critic", optimizer_.params(), out);
  if (options_.value_norm) value_norm_.Tell(out);
  optimizer_.Tell(out);
}

void Learner::Load(const bp::Reader& reader) {
  Counters counters{};
  ReadState(reader, ShapeOf(net_), &optimizer_, &value_norm_, &counters);
  LoadScale(reader);
  epochs_done_ = counters.epochs_done;
  Refresh();
  Restart(counters.version);
}

void Learner::SavePolicy(const bp::Writer& writer) const {
  ShapeOf(net_).Write(writer);
  optimizer_.SaveParams(writer);
  value_norm_.Save(writer);  // the critic's unit
}

void Learner::LoadPolicy(const bp::Reader& reader) {
  ShapeOf(net_).Expect(reader);
  optimizer_.LoadParams(reader);
  value_norm_.Load(reader);
  Refresh();
}

std::string Learner::PolicyForm() const {
  rl::MlpForm form{.obs = {},
                   .action = shape_.actions.front().name,
                   .mask = shape_.mask,
                   .alive = shape_.alive,
                   .layers = AllLayers(net_.actor),
                   .activation = net_.actor.activation,
                   .numbers_at = ShapeOf(net_).size() + sizeof(uint64_t),  // after their number
                   .dtype = "float32",
                   .head = shape_.HeadText(),
                   .critic = AllLayers(net_.critic),
                   .memory = net_.actor.memory,
                   .carry = "memory",
                   .log_std = net_.log_std,
                   .log_stds = net_.log_stds()};
  for (const Seen& each : shape_.obs) form.obs.push_back(each.name);
  return rl::TextOf(form);
}

namespace {

void CheckDevice(const bp_device& env_device, const Options& options) {
  const bool env_on_gpu = env_device.type == BP_DEVICE_CUDA;
  if (env_device.type > BP_DEVICE_CPU && !env_on_gpu)
    throw bp::Unsupported("expected channels on the CPU or a CUDA device, got a device of type " +
                          std::to_string(env_device.type));
  if (env_on_gpu && (options.device == Device::kCpu || options.update_path == UpdatePath::kFused)) {
    throw bp::ConfigError(
        "the env keeps its channels on a GPU, so this learner must run there; set device: auto and update_path: auto");
  }
}

// Samples are on the env's device, so that is the first.
TorchOptions TorchOptionsOf(const Options& o, const bp_host* host, bp_device device, Amp amp) {
  const bool gpu = device.type == BP_DEVICE_CUDA;
  TorchOptions torch = on_policy::TorchOptionsFor(host, gpu, o.update_shards, amp);
  if (o.devices.empty()) {
    std::stable_partition(torch.devices.begin(), torch.devices.end(),
                          [&](const bp_device& one) { return one.id == device.id; });
    return torch;
  }
  const auto at = [&](int64_t number) {
    if (!gpu) return torch.devices.front();
    if (number < static_cast<int64_t>(torch.devices.size())) return torch.devices[static_cast<size_t>(number)];
    throw bp::ConfigError("devices: expected numbers below resources.gpus, which grants " +
                          std::to_string(torch.devices.size()) + ", got " + std::to_string(number));
  };
  const bp_device actor = at(o.devices[0]);
  torch.critic_device = at(o.devices[1]);
  torch.devices = {actor};
  if (gpu) torch.shards = 1;
  return torch;
}

}  // namespace

// On a CPU the fused implementation, unless an option requires LibTorch.
void Learner::ChooseModel(const bp_env_spec* env) {
  const bool env_on_gpu = env->device.type == BP_DEVICE_CUDA;
  CheckDevice(env->device, options_);
  if (env_on_gpu && options_.memory.size > 0)
    throw bp::ConfigError("memory: expected an env on the CPU, because updates with a memory run there, got one on a GPU");
  const on_policy::UpdateDevice update = on_policy::DeviceOfUpdates(host(), options_.device, options_.update_path);
  const bool gpu = update.gpu || env_on_gpu, torch = update.torch || env_on_gpu;
  const bp_device device = env_on_gpu ? env->device : bp_device{gpu ? BP_DEVICE_CUDA : BP_DEVICE_CPU, 0};
  const Amp amp = options_.use_amp.value_or(Amp::kOff);
  bp::RecordFact(host(), "update_path", torch ? "torch" : "fused");
  bp::RecordFact(host(), "device", gpu ? "cuda" : "cpu");
  if (amp != Amp::kOff) bp::RecordFact(host(), "use_amp", amp == Amp::kFp16 ? "fp16" : "on");
  if (!options_.use_amp && !gpu) {
    // A timing must not decide numbers where the same file and seed give the same bits (decision 10).
    bp::RecordFact(host(), "use_amp", "off: auto measures no speed on a CPU");
    host()->log(host(), BP_LOG_INFO, "use_amp: auto is off on a CPU; true uses bfloat16");
  }
  if (!torch) {
    if (!options_.devices.empty())
      throw bp::ConfigError("devices: expected update_path: torch or a GPU (resources.gpus), got the fused update of a CPU");
    model_ = FusedModel(net_, shape_, options_.update_shards, OnHost(host()), host(), FusedPrecision(amp));
    return;
  }
  const auto& part = bp::OpenPart<TorchPart>(host(), "torch");
  if (gpu && !part.has_cuda()) throw on_policy::NoGpu(options_.device);
  const TorchOptions torch_options = TorchOptionsOf(options_, host(), device, amp);
  UseTorch(part.memory, torch_options.devices.front(), amp);
  std::unique_ptr<TorchModel> model = part.model(net_, shape_, torch_options, host());
  probe_amp_ = gpu && !options_.use_amp;
  if (gpu) torch_actor_ = part.actor(net_, shape_, torch_options.devices.front(), host());
  torch_model_ = model.get();
  model_ = std::move(model);
}

void Learner::Refresh() { torch_actor_ ? torch_actor_->Refresh(optimizer_.params()) : actor_.Refresh(optimizer_.params()); }

void Learner::DescribeSpec(const EnvShape& shape) {
  for (const Seen& each : shape.obs) spec_.ActIn(each.name), spec_.Keep(each.name);  // in the order that Actor reads
  if (!shape.mask.empty()) spec_.ActIn(shape.mask);
  if (!shape.alive.empty()) spec_.ActIn(shape.alive);
  for (const std::string& name : {shape.mask, shape.alive, shape.agent_ended, shape.agent_truncated}) {
    if (!name.empty()) spec_.Keep(name);
  }
  for (const Seen& each : shape.state)
    if (net_.state > 0) spec_.Keep(each.name);
  for (const char* name : {"reward", "terminated", "truncated"}) spec_.Keep(name);
  for (const bp_channel* action : shape.declarations) {
    spec_.ActOut(*action);
    if (action->space != BP_SPACE_BOX) spec_.Keep(action->name);
  }
  // From here on in the order of Output.
  spec_.Extra("logp", {}, BP_SCOPE_AGENT);
  if (net_.log_stds() > 0) spec_.Extra("raw_action", {net_.log_stds()}, BP_SCOPE_AGENT);
  if (net_.actor.memory.size > 0) spec_.Carry("memory", {net_.actor.memory.size}, BP_SCOPE_AGENT);
  spec_.set_params(static_cast<uint64_t>(net_.size));
  if (!torch_actor_) spec_.set_flags(BP_LEARNER_ROW_EXACT);
}

int64_t Learner::Minibatches() const {
  const int64_t n = batch_.ordered(), each = options_.memory.size > 0 ? options_.memory.sequence : 1;
  return options_.minibatch_size > 0 ? PartsOfAtMost(options_.minibatch_size / each, n) : std::min(options_.num_minibatches, n);
}

Minibatch Learner::NextMinibatch(int64_t part) {
  const Samples& all = batch_.samples();
  const Part range = PartOf(batch_.ordered(), Minibatches(), part);
  Minibatch batch = batch_.Select(range.begin, range.end);
  batch.advantage = advantage_scaling_;
  if (options_.normalize_advantages == Normalize::kMinibatch)
    batch.advantage = Normalized(batch.n(), [&](int64_t i) { return all.advantage[batch.index[i]]; });
  if (options_.value_norm) {
    value_norm_.Update(batch.n(), [&](int64_t i) { return all.ret[batch.index[i]]; });
    batch.target = value_norm_.scaling();
  }
  return batch;
}

StepStats Learner::Gradient(int64_t part) {
  const Minibatch batch = NextMinibatch(part);
  LossOptions loss = CurrentLoss(options_.clip);
  loss.huber_delta = options_.huber_delta;
  if (probe_amp_) ProbeAmp(host(), batch, loss, optimizer_.params(), net_.size, torch_model_);
  probe_amp_ = false;
  return model_->Gradient(batch, loss, optimizer_.params(), optimizer_.gradient());
}

StepOptions Learner::CurrentStep() const {
  StepOptions step = on_policy::Learner::CurrentStep();
  step.lr = Scheduled(options_.lr_schedule, options_.lr, progress());
  if (options_.separate_grad_clip) step.split = net_.split;
  return step;
}

}  // namespace backplane::mappo
