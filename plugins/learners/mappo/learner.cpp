#include "learner.hpp"

#include <algorithm>

#include "backplane/rng.h"
#include "on_policy/amp.hpp"
#include "on_policy/parallel.hpp"
#include "on_policy/parts.hpp"
#include "rl/policy_form.hpp"
#include "torch_part.hpp"

namespace backplane::mappo {

namespace {

int64_t SizeOf(const std::vector<Net>& nets) {
  int64_t size = 0;
  for (const Net& net : nets) size += net.size;
  return size;
}

// Metrics of a group's gradient steps, and of its rewards; named "NAME/GROUP".
constexpr bp::MetricInfo kGroupMetrics[] = {
    {"train/policy_loss", nullptr, 0, "clipped surrogate of the group, negated"},
    {"train/value_loss", nullptr, -1, "mean loss of the group's values"},
    {"train/entropy", "nat", 0, "mean entropy of the group's policy"},
    {"train/kl", "nat", 0, "estimate of the divergence from the group's acting policy"},
    {"train/reward", nullptr, 1, "mean reward of a step of the group's living agents"},
};

}  // namespace

Learner::Learner(const bp::LearnerSetup& setup) : Learner(setup, kOptions.Read(setup.config), ShapesOf(setup.env)) {}

Learner::Learner(const bp::LearnerSetup& setup, const Options& options, const std::vector<EnvShape>& shapes)
    : Learner(setup, options, shapes, NetsOf(options, shapes)) {}

Learner::Learner(const bp::LearnerSetup& setup, const Options& options, const std::vector<EnvShape>& shapes,
                 const std::vector<Net>& nets)
    : on_policy::Learner(setup, SizeOf(nets), "a smaller lr or reward_scale may help"),
      options_(options),
      horizon_(options_.Horizon(rows_, shapes.front().max_episode_steps)) {
  int64_t offset = 0;
  for (size_t g = 0; g < shapes.size(); ++g) {
    Group& group = groups_.emplace_back(shapes[g], nets[g], offset, options_, rows_);
    group.shape.declarations.clear();  // drop pointers that may become invalid
    const uint64_t seed = g == 0 ? seed_ : bp_seed(seed_, BP_PURPOSE_LEARNER, 2, g);
    InitParams(group.net, seed, options_.ortho_init, options_.log_std_init, optimizer_.params() + offset);
    offset += group.net.size;
  }
  DeclareMetrics();
  on_policy::CheckBootstrap(*setup.env, options_);
  ChooseModel(setup.env);
  for (size_t g = 0; g < shapes.size(); ++g) DescribeSpec(shapes[g], &groups_[g]);
  spec_.set_params(static_cast<uint64_t>(optimizer_.size()));
  spec_.set_flags((groups_.front().torch_actor ? 0 : BP_LEARNER_ROW_EXACT) | (has_groups() ? BP_LEARNER_GROUPS : 0));
  Refresh();
}

void Learner::DeclareMetrics() {
  metrics_.Declare({"train/alive_share", nullptr, 0, "share of the agents' steps in which the agent was alive"});
  for (const Group& group : groups_) {
    if (!has_groups()) return;
    for (const bp::MetricInfo& metric : kGroupMetrics)
      metrics_.Declare(
          {(std::string(metric.name) + "/" + group.shape.group).c_str(), metric.unit, metric.direction, metric.doc});
  }
}

SavedShapes Learner::ShapesOfNets() const {
  SavedShapes shapes;
  for (const Group& group : groups_) shapes.push_back(ShapeOf(group.net));
  return shapes;
}

void Learner::Save(const bp::Writer& writer) const {
  std::vector<const ValueNorm*> norms;
  for (const Group& group : groups_) norms.push_back(&group.value_norm);
  WriteState(writer, ShapesOfNets(), optimizer_, norms, {epochs_done_, version()});
  SaveScale(writer);
}

void Learner::Tensors(bp::NamedTensors* out) const {
  for (const Group& group : groups_) {
    const float* const params = optimizer_.params() + group.offset;
    TellTower(group.net.actor, group.shape.Own("actor"), params, out);
    if (group.net.log_stds() > 0)
      out->Add(group.shape.Own("actor.log_std").c_str(), params + group.net.log_std, {group.net.log_stds()});
    TellTower(group.net.critic, group.shape.Own("critic"), params, out);
    if (options_.value_norm) group.value_norm.Tell(out, group.shape.Own(""));
  }
  optimizer_.Tell(out);
}

void Learner::Load(const bp::Reader& reader) {
  Counters counters{};
  std::vector<ValueNorm*> norms;
  for (Group& group : groups_) norms.push_back(&group.value_norm);
  ReadState(reader, ShapesOfNets(), &optimizer_, norms, &counters);
  LoadScale(reader);
  epochs_done_ = counters.epochs_done;
  Refresh();
  Restart(counters.version);
}

void Learner::SavePolicy(const bp::Writer& writer) const {
  WriteShapes(writer, ShapesOfNets());
  optimizer_.SaveParams(writer);
  for (const Group& group : groups_) group.value_norm.Save(writer);  // the critic's unit
}

void Learner::LoadPolicy(const bp::Reader& reader) {
  ExpectShapes(reader, ShapesOfNets());
  optimizer_.LoadParams(reader);
  for (Group& group : groups_) group.value_norm.Load(reader);
  Refresh();
}

std::string Learner::PolicyForm() const {
  if (has_groups()) return R"({"kind":"groups"})";
  const EnvShape& shape = groups_.front().shape;
  const Net& net = groups_.front().net;
  rl::MlpForm form{.obs = {},
                   .action = shape.actions.front().name,
                   .mask = shape.mask,
                   .alive = shape.alive,
                   .layers = AllLayers(net.actor),
                   .activation = net.actor.activation,
                   .numbers_at = ShapeOf(net).size() + sizeof(uint64_t),  // after their number
                   .dtype = "float32",
                   .head = shape.HeadText(),
                   .critic = AllLayers(net.critic),
                   .memory = net.actor.memory,
                   .carry = "memory",
                   .log_std = net.log_std,
                   .log_stds = net.log_stds()};
  for (const Seen& each : shape.obs) form.obs.push_back(each.name);
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
    for (Group& group : groups_)
      group.model = FusedModel(group.net, group.shape, options_.update_shards, OnHost(host()), host(), FusedPrecision(amp));
    return;
  }
  const auto& part = bp::OpenPart<TorchPart>(host(), "torch");
  if (gpu && !part.has_cuda()) throw on_policy::NoGpu(options_.device);
  const TorchOptions torch_options = TorchOptionsOf(options_, host(), device, amp);
  UseTorch(part.memory, torch_options.devices.front(), amp);
  for (Group& group : groups_) {
    std::unique_ptr<TorchModel> model = part.model(group.net, group.shape, torch_options, host());
    group.probe_amp = gpu && !options_.use_amp;
    if (gpu) group.torch_actor = part.actor(group.net, group.shape, torch_options.devices.front(), host());
    group.torch_model = model.get();
    group.model = std::move(model);
  }
}

void Learner::Refresh() {
  for (Group& group : groups_) group.Refresh(optimizer_.params());
}

void Learner::DescribeSpec(const EnvShape& shape, Group* group) {
  const Net& net = group->net;
  group->first_in = inputs_.size(), group->first_out = outputs_;
  const auto input = [&](const std::string& name) { spec_.ActIn(name), inputs_.push_back(name); };
  const auto keep = [&](const std::string& name) {
    if (name.empty() || std::find(delivered_.begin(), delivered_.end(), name) != delivered_.end()) return;
    spec_.Keep(name), delivered_.push_back(name);
  };
  for (const Seen& each : shape.obs) input(each.name), keep(each.name);  // in the order that Actor reads
  if (!shape.mask.empty()) input(shape.mask);
  if (!shape.alive.empty()) input(shape.alive);
  for (const std::string& name : {shape.mask, shape.alive, shape.agent_ended, shape.agent_truncated}) keep(name);
  for (const Seen& each : shape.state)
    if (net.state > 0) keep(each.name);
  for (const char* name : {"reward", "terminated", "truncated"}) keep(name);
  for (const bp_channel* action : shape.declarations) {
    spec_.ActOut(*action), ++outputs_;
    if (action->space != BP_SPACE_BOX) keep(action->name);
  }
  // From here on in the order of Output.
  spec_.Extra(shape.Own("logp").c_str(), {}, BP_SCOPE_AGENT, shape.number), ++outputs_;
  if (net.log_stds() > 0)
    spec_.Extra(shape.Own("raw_action").c_str(), {net.log_stds()}, BP_SCOPE_AGENT, shape.number), ++outputs_;
  if (net.actor.memory.size == 0) return;
  const std::string memory = shape.Own("memory");
  spec_.Carry(memory.c_str(), {net.actor.memory.size}, BP_SCOPE_AGENT, shape.number), ++outputs_;
  inputs_.push_back(memory);
}

int64_t Learner::ordered() const {
  int64_t n = 0;
  for (const Group& group : groups_) n += group.batch.ordered();
  return n;
}

int64_t Learner::Minibatches() const {
  const int64_t n = ordered(), each = options_.memory.size > 0 ? options_.memory.sequence : 1;
  return options_.minibatch_size > 0 ? PartsOfAtMost(options_.minibatch_size / each, n) : std::min(options_.num_minibatches, n);
}

Minibatch Learner::NextMinibatch(Group* group, Part range) {
  const Samples& all = group->batch.samples();
  Minibatch batch = group->batch.Select(range.begin, range.end);
  batch.advantage = group->advantage_scaling;
  if (options_.normalize_advantages == Normalize::kMinibatch)
    batch.advantage = Normalized(batch.n(), [&](int64_t i) { return all.advantage[batch.index[i]]; });
  if (options_.value_norm) {
    group->value_norm.Update(batch.n(), [&](int64_t i) { return all.ret[batch.index[i]]; });
    batch.target = group->value_norm.scaling();
  }
  return batch;
}

StepStats Learner::Gradient(Group* group, Part range) {
  const Minibatch batch = NextMinibatch(group, range);
  LossOptions loss = CurrentLoss(options_.clip);
  loss.huber_delta = options_.huber_delta;
  float* const params = optimizer_.params() + group->offset;
  if (group->probe_amp) ProbeAmp(host(), batch, loss, params, group->net.size, group->torch_model);
  group->probe_amp = false;
  return group->model->Gradient(batch, loss, params, optimizer_.gradient() + group->offset);
}

// A group's loss is the mean over its own samples, so its gradient does not depend on the size of other groups.
StepStats Learner::Gradient(int64_t part) {
  const int64_t parts = Minibatches();
  if (!has_groups()) return Gradient(&groups_.front(), PartOf(ordered(), parts, part));
  StepStats all{};
  const auto share = [&](Part range) { return static_cast<double>(range.end - range.begin); };
  double total = 0;
  for (const Group& group : groups_) total += share(PartOf(group.batch.ordered(), parts, part));
  for (Group& group : groups_) {
    const Part range = PartOf(group.batch.ordered(), parts, part);
    if (range.begin == range.end) {
      std::fill_n(optimizer_.gradient() + group.offset, group.net.size, 0.0f);
      continue;
    }
    const StepStats stats = Gradient(&group, range);
    all.Add(share(range) / total, stats);
    const std::pair<const char*, double> numbers[] = {{"train/policy_loss/", stats.policy_loss},
                                                      {"train/value_loss/", stats.value_loss},
                                                      {"train/entropy/", stats.entropy},
                                                      {"train/kl/", stats.kl}};
    for (const auto& [name, value] : numbers) metrics_.Record((name + group.shape.group).c_str(), value);
  }
  return all;
}

StepOptions Learner::CurrentStep() const {
  StepOptions step = on_policy::Learner::CurrentStep();
  step.lr = Scheduled(options_.lr_schedule, options_.lr, progress());
  // Each group's norm is limited separately, as if it had a learner of its own.
  for (const Group& group : groups_) {
    if (group.offset > 0) step.splits.push_back(group.offset);
    if (options_.separate_grad_clip) step.splits.push_back(group.offset + group.net.split);
  }
  return step;
}

}  // namespace backplane::mappo
