#include "learner.hpp"

#include <algorithm>

#include "backplane/rng.h"
#include "rl/parts.hpp"
#include "rl/report.hpp"
#include "state.hpp"

namespace backplane::ppo {
namespace {

uint64_t HorizonOf(int64_t train_batch_size, uint64_t rows) {
  return (static_cast<uint64_t>(train_batch_size) + rows - 1) / rows;
}

uint64_t SdeSteps(const Options& options, uint64_t rows) {
  return options.sde_sample_freq > 0 ? static_cast<uint64_t>(options.sde_sample_freq)
                                     : HorizonOf(options.train_batch_size, rows);
}

}  // namespace

Learner::Learner(const bp::LearnerSetup& setup) : Learner(setup, EnvShape(setup.env)) {}

Learner::Learner(const bp::LearnerSetup& setup, const EnvShape& shape)
    : OnPolicy(setup),
      options_(kOptions.Read(setup.config)),
      rows_(setup.rows),
      seed_(setup.seed),
      obs_name_(shape.obs_name),
      net_(MakeNet(options_, shape)),
      update_(net_, MakeGradient()),
      obs_norm_(net_.obs),
      reward_norm_(static_cast<int64_t>(rows_), options_.gamma),
      actor_(net_, shape, rows_, obs_norm(), SdeSteps(options_, rows_)),
      batch_(net_, shape),
      metrics_(setup.host, rl::kStepMetrics),
      adaptive_lr_(options_.lr) {
  InitParams(net_, seed_, options_.ortho_init, options_.log_std_init, update_.params());
  actor_.Refresh(update_.params());
  DescribeSpec(shape);
  bp::RecordFact(setup.host, "update_path", options_.update_path == UpdatePath::kTorch ? "torch" : "fused");
}

void Learner::Save(const bp::Writer& writer) const {
  ObsNormalizer obs_norm = obs_norm_;
  if (moments_.count > 0) obs_norm.Merge(moments_.count, moments_.mean.data(), moments_.m2.data());
  WriteState(writer, ShapeOf(net_), update_, obs_norm, reward_norm_, {adaptive_lr_, epochs_done_, version()});
}

void Learner::Load(const bp::Reader& reader) {
  Counters counters{};
  ReadState(reader, ShapeOf(net_), &update_, &obs_norm_, &reward_norm_, &counters);
  actor_.Refresh(update_.params());
  adaptive_lr_ = counters.adaptive_lr;
  epochs_done_ = counters.epochs_done;
  moments_.count = 0;
  Restart(counters.version);
}

// Every net this learner builds is a multi-layer perceptron, so that auto is the fused path.
std::unique_ptr<Gradient<float>> Learner::MakeGradient() const {
  if (options_.update_path == UpdatePath::kTorch) return TorchGradient<float>(net_);
  return FusedGradient<float>(net_, options_.update_shards, rl::OnHost(host()));
}

void Learner::DescribeSpec(const EnvShape& shape) {
  spec_.ActIn(shape.obs_name);
  if (!shape.mask_name.empty()) spec_.ActIn(shape.mask_name), spec_.Keep(shape.mask_name);
  for (const char* name : {shape.obs_name.c_str(), "reward", "terminated", "truncated"}) spec_.Keep(name);
  spec_.ActOut(shape.action);  // from here on in the order of Output
  spec_.Extra("logp");
  spec_.Extra("value");
  if (net_.discrete) {
    spec_.Keep(shape.action_name);
  } else {
    spec_.Extra("raw_action", {net_.actions});
  }
  spec_.set_params(static_cast<uint64_t>(net_.size));
  if (options_.normalize_obs) spec_.set_flags(BP_LEARNER_OBS_MOMENTS);
}

uint64_t Learner::Horizon() const { return HorizonOf(options_.train_batch_size, rows_); }

double Learner::CurrentLr() const {
  if (options_.lr_schedule == LrSchedule::kKlAdaptive) return adaptive_lr_;
  return options_.lr_schedule == LrSchedule::kLinear ? options_.lr * (1 - progress()) : options_.lr;
}

LossOptions Learner::CurrentLoss() const {
  LossOptions loss{};
  loss.clip = rl::Scheduled(options_.clip_schedule, options_.clip, progress());
  const double vf_clip = options_.vf_clip_param > 0 ? options_.vf_clip_param : loss.clip;
  loss.vf_clip = options_.vf_clip ? vf_clip : 0;
  loss.entropy_coeff = rl::Scheduled(options_.entropy_schedule, options_.entropy_coeff, progress());
  loss.vf_coeff = options_.vf_coeff, loss.grad_clip = options_.grad_clip;
  loss.normalize_advantages = options_.normalize_advantages;
  // SB3 stops at 1.5 times the target; an adaptive rate steers towards the target instead.
  if (options_.lr_schedule != LrSchedule::kKlAdaptive) loss.kl_stop = 1.5 * options_.kl_target;
  return loss;
}

// Of an epoch.
int64_t Learner::Minibatches() const { return rl::PartsOfAtMost(options_.minibatch_size, batch_.samples().n); }

void Learner::OnTick(uint64_t index) {
  const int64_t parts = Minibatches(), part = static_cast<int64_t>(index) % parts;
  if (part == 0) batch_.Shuffle(bp_seed(seed_, BP_PURPOSE_LEARNER, 0, epochs_done_++));
  const rl::Part range = rl::PartOf(batch_.samples().n, parts, part);
  const StepStats stats = update_.Step(batch_.Gather(range.begin, range.end), CurrentLoss(), CurrentLr());
  kl_sum_ += stats.kl, ++kl_count_;
  rl::Report(stats, CurrentLr(), &metrics_);
  if (!stats.applied) SkipTicks();
  if (ticks_left() == 0) EndUpdate();
}

// The normaliser moves only here, so that the ratio of the first minibatch is 1.
void Learner::EndUpdate() {
  update_.RequireFiniteState();  // before the host takes the state for a checkpoint
  actor_.Refresh(update_.params());
  if (moments_.count > 0) obs_norm_.Merge(moments_.count, moments_.mean.data(), moments_.m2.data());
  moments_.count = 0;
  if (options_.lr_schedule != LrSchedule::kKlAdaptive || kl_count_ == 0) return;
  const double kl = kl_sum_ / static_cast<double>(kl_count_);
  if (kl > 2 * options_.kl_target) adaptive_lr_ = std::max(adaptive_lr_ / 1.5, 1e-6);
  if (kl < options_.kl_target / 2) adaptive_lr_ = std::min(adaptive_lr_ * 1.5, 1e-2);
}

}  // namespace backplane::ppo
