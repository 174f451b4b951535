#include "learner.hpp"

#include <algorithm>
#include <cmath>

#include "on_policy/amp.hpp"
#include "on_policy/parallel.hpp"
#include "rl/policy_form.hpp"
#include "state.hpp"
#include "torch_part.hpp"

namespace backplane::ppo {
namespace {

uint64_t SdeSteps(const Options& options, uint64_t rows) {
  return options.sde_sample_freq > 0 ? static_cast<uint64_t>(options.sde_sample_freq)
                                     : HorizonOf(options.train_batch_size, rows);
}

}  // namespace

// All nets are multi-layer perceptrons, so auto is the fused implementation unless an option requires a GPU.
std::unique_ptr<Gradient<float>> Learner::MakeGradient() {
  if (!update_.torch)
    return FusedGradient<float>(net_, options_.update_shards, OnHost(host()), host(), FusedPrecision(options_.use_amp));
  const auto& torch = bp::OpenPart<TorchPart>(host(), "torch");
  if (update_.gpu && !torch.has_cuda()) throw on_policy::NoGpu(options_.device);
  const TorchOptions torch_options = on_policy::TorchOptionsFor(host(), update_.gpu, options_.update_shards, options_.use_amp);
  UseTorch(torch.memory, torch_options.devices.front(), options_.use_amp);
  return torch.gradient(net_, host(), torch_options);
}

Learner::Learner(const bp::LearnerSetup& setup) : Learner(setup, kOptions.Read(setup.config)) {}

Learner::Learner(const bp::LearnerSetup& setup, const Options& options)
    : Learner(setup, options, EnvShape(setup.env, options.image_net != ImageNet::kNone)) {}

Learner::Learner(const bp::LearnerSetup& setup, const Options& options, const EnvShape& shape)
    : Learner(setup, options, shape, MakeNet(options, shape)) {}

Learner::Learner(const bp::LearnerSetup& setup, const Options& options, const EnvShape& shape, const Net& net)
    : on_policy::Learner(setup, net.size, "a smaller lr, normalize_obs or normalize_rewards may help"),
      options_(options),
      obs_channels_(shape.observed),
      net_(net),
      update_(on_policy::DeviceOfUpdates(setup.host, options_.device, options_.update_path)),
      gradient_(MakeGradient()),
      obs_norm_(net_.obs, options_.obs_epsilon, options_.obs_clip),
      reward_norm_(static_cast<int64_t>(rows_), options_.gamma),
      actor_(net_, shape, rows_, obs_norm(), SdeSteps(options_, rows_)),
      batch_(net_, shape, options_.memory.sequence),
      adaptive_rate_(options_.lr) {
  on_policy::CheckBootstrap(*setup.env, options_);
  InitParams(net_, seed_, options_.ortho_init, options_.log_std_init, optimizer_.params());
  actor_.Refresh(optimizer_.params());
  DescribeSpec(shape);
  DescribePolicy(shape);
  bp::RecordFact(setup.host, "update_path", update_.torch ? "torch" : "fused");
  bp::RecordFact(setup.host, "device", update_.gpu ? "cuda" : "cpu");
  if (options_.use_amp != Amp::kOff) bp::RecordFact(setup.host, "use_amp", options_.use_amp == Amp::kFp16 ? "fp16" : "on");
}

void Learner::Save(const bp::Writer& writer) const {
  ObsNormalizer obs_norm = obs_norm_;
  if (moments_.count > 0) obs_norm.Merge(moments_.count, moments_.mean.data(), moments_.m2.data());
  WriteState(writer, ShapeOf(net_), optimizer_, obs_norm, reward_norm_, {adaptive_rate_.rate(), epochs_done_, version()});
  SaveScale(writer);
}

void Learner::Load(const bp::Reader& reader) {
  Counters counters{};
  ReadState(reader, ShapeOf(net_), &optimizer_, &obs_norm_, &reward_norm_, &counters);
  LoadScale(reader);
  actor_.Refresh(optimizer_.params());
  adaptive_rate_.Restore(counters.adaptive_lr);
  epochs_done_ = counters.epochs_done;
  moments_.count = 0;
  Restart(counters.version);
}

void Learner::SavePolicy(const bp::Writer& writer) const {
  ShapeOf(net_).Write(writer);
  optimizer_.SaveParams(writer);
  obs_norm_.Save(writer);
  reward_norm_.stats().Save(writer);  // the critic's unit
}

void Learner::LoadPolicy(const bp::Reader& reader) {
  ShapeOf(net_).Expect(reader);
  optimizer_.LoadParams(reader);
  obs_norm_.Load(reader);
  reward_norm_.LoadStats(reader);
  actor_.Refresh(optimizer_.params());
}

void Learner::StartPolicy(const bp::Reader& reader) {
  const double untouched = obs_norm_.stats().count();
  LoadPolicy(reader);
  const bool normalized = obs_norm_.stats().count() != untouched;
  if (normalized != options_.normalize_obs)
    throw bp::Error(BP_E_INVALID_ARG, std::string("expected normalize_obs: ") + (normalized ? "true" : "false") +
                                          ", as the policy was trained, got " + (normalized ? "false" : "true"));
}

void Learner::DescribePolicy(const EnvShape& shape) {
  const uint64_t params = ShapeOf(net_).size() + sizeof(uint64_t);  // after their number
  const uint64_t statistics = params + static_cast<uint64_t>(net_.size) * sizeof(float);
  rl::MlpForm form{.action = shape.actions.front().name,
                   .mask = shape.mask_name,
                   .layers = AllLayers(net_.actor),
                   .activation = net_.actor.activation,
                   .numbers_at = params,
                   .dtype = "float32",
                   .head = shape.HeadText(),
                   .critic = net_.carry() > 0 ? nn::Trunk() : AllLayers(net_.critic),
                   .memory = net_.actor.memory,
                   .carry = "memory",
                   .log_std = net_.log_std,
                   .log_stds = net_.log_stds()};
  for (const ObsChannel& each : shape.observed) {
    if (!each.image) {
      form.obs.push_back(each.name);
      continue;
    }
    const Vision& vision = net_.visions[form.images.size()];
    form.images.push_back({each.name, vision.image, vision.convs, vision.dense});
  }
  if (options_.normalize_obs)
    form.normalizer = rl::NormalizerText({"variance", statistics, obs_norm_.epsilon(), obs_norm_.clip()}, net_.obs);
  policy_form_ = rl::TextOf(form);
}

void Learner::DescribeSpec(const EnvShape& shape) {
  for (const ObsChannel& each : shape.observed) spec_.ActIn(each.name), spec_.Keep(each.name);
  if (!shape.mask_name.empty()) spec_.ActIn(shape.mask_name), spec_.Keep(shape.mask_name);
  for (const char* name : {"reward", "terminated", "truncated"}) spec_.Keep(name);
  for (const bp_channel* action : shape.declarations) {
    spec_.ActOut(*action);
    if (action->space != BP_SPACE_BOX) spec_.Keep(action->name);
  }
  // From here on in the order of Output.
  spec_.Extra("logp");
  spec_.Extra("value");
  if (net_.action.numbers > 0) spec_.Extra("raw_action", {net_.action.numbers});
  if (net_.carry() > 0) spec_.Carry("memory", {net_.carry()});
  spec_.set_params(static_cast<uint64_t>(net_.size));
  if (options_.normalize_obs && shape.observed.size() == 1) spec_.set_flags(BP_LEARNER_OBS_MOMENTS);
}

void Learner::Tensors(bp::NamedTensors* out) const {
  for (size_t i = 0; i < net_.visions.size(); ++i)
    TellVision(net_.visions[i], "image." + std::to_string(i), optimizer_.params(), out);
  TellTower(net_.actor, "actor", optimizer_.params(), out);
  if (net_.log_stds() > 0) out->Add("actor.log_std", optimizer_.params() + net_.log_std, {net_.log_stds()});
  TellTower(net_.critic, "critic", optimizer_.params(), out);
  if (options_.normalize_obs) obs_norm_.stats().Tell("obs_norm", out);
  if (options_.normalize_rewards) reward_norm_.Tell(out);
  optimizer_.Tell(out);
  out->AddNumber("adaptive_lr", adaptive_rate_.rate());
}

StepStats Learner::Gradient(int64_t part) {
  const Part range = PartOf(batch_.ordered(), Minibatches(), part);
  const double clip = Scheduled(options_.clip_schedule, options_.clip, progress());
  const Minibatch<float> batch = update_.torch ? batch_.Gather(range.begin, range.end) : batch_.Select(range.begin, range.end);
  const StepStats stats =
      gradient_->Compute(batch, {CurrentLoss(clip), options_.normalize_advantages}, optimizer_.params(), optimizer_.gradient());
  if (std::isfinite(stats.kl)) adaptive_rate_.Add(stats.kl);
  return stats;
}

StepOptions Learner::CurrentStep() const {
  StepOptions step = on_policy::Learner::CurrentStep();
  if (options_.lr_schedule == LrSchedule::kLinear) step.lr *= 1 - progress();
  // An adaptive rate steers towards the target instead.
  if (options_.lr_schedule == LrSchedule::kKlAdaptive) step.lr = adaptive_rate_.rate(), step.kl_stop = 0;
  return step;
}

// The normaliser moves only here, so that the ratio of the first minibatch is 1.
void Learner::EndUpdate() {
  actor_.Refresh(optimizer_.params());
  if (moments_.count > 0) obs_norm_.Merge(moments_.count, moments_.mean.data(), moments_.m2.data());
  moments_.count = 0;
  if (options_.lr_schedule == LrSchedule::kKlAdaptive) adaptive_rate_.EndUpdate(options_.kl_target);
}

}  // namespace backplane::ppo
