#include "on_policy/learner.hpp"

#include "backplane/rng.h"
#include "on_policy/report.hpp"

namespace backplane::on_policy {

Learner::Learner(const bp::LearnerSetup& setup, int64_t params, const char* hint)
    : OnPolicy(setup),
      rows_(setup.rows),
      seed_(setup.seed),
      parallel_(OnHost(setup.host)),
      optimizer_(params, hint),
      metrics_(setup.host, kStepMetrics) {}

void Learner::UseTorch(const torch_common::Memory& memory, bp_device device, Amp amp) {
  memory_ = TorchMemory(memory, device);
  if (amp != Amp::kFp16) return;
  scaler_.emplace();
  metrics_.Declare({"train/loss_scale", nullptr, 0, "scale of the loss in float16"});
  metrics_.Declare({"train/skipped_updates", nullptr, -1, "gradient steps skipped because float16 overflowed, in total"});
}

void Learner::SaveScale(const bp::Writer& writer) const {
  if (scaler_) scaler_->Save(writer);
}

void Learner::LoadScale(const bp::Reader& reader) {
  if (!scaler_) return;
  scaler_.emplace();
  try {
    scaler_->Load(reader);
  } catch (const bp::Error& e) {
    if (e.code() != BP_E_IO) throw;
    scaler_.emplace();
  }
}

void Learner::OnLimits(const bp_limits& limits) {
  if (BP_HAS(&limits, device_bytes)) memory_.Limit(host(), limits.device_bytes);
  AllowSmallerParts((limits.flags & BP_LIMIT_NO_SHRINK) == 0);
}

StepOptions Learner::CurrentStep() const {
  // SB3 stops at 1.5 times the target.
  return {.lr = options().lr,
          .grad_clip = options().grad_clip,
          .kl_stop = 1.5 * options().kl_target,
          .may_overflow = scaler_.has_value()};
}

LossOptions Learner::CurrentLoss(double clip) const {
  const Options& o = options();
  const double vf_clip = o.vf_clip_param > 0 ? o.vf_clip_param : clip;
  return {.clip = clip,
          .vf_clip = o.vf_clip ? vf_clip : 0,
          .huber_delta = 0,
          .entropy_coeff = Scheduled(o.entropy_schedule, o.entropy_coeff, progress()),
          .vf_coeff = o.vf_coeff,
          .loss_scale = scaler_ ? scaler_->scale() : 1};
}

void Learner::OnTick(uint64_t index) {
  const int64_t part = static_cast<int64_t>(index) % Minibatches();
  if (part == 0) Shuffle(bp_seed(seed_, BP_PURPOSE_LEARNER, 0, epochs_done_++));
  memory_.NoteTensors();
  StepStats stats = Gradient(part);
  const StepOptions step = CurrentStep();
  {
    const bp::PhaseScope phase(host(), BP_PHASE_UPDATE_OPTIM);
    optimizer_.Step(step, parallel_, &stats);
  }
  if (scaler_ && (stats.applied || stats.overflowed))
    scaler_->Update(stats.overflowed, "a smaller lr or reward, or use_amp: bf16 may help");
  if (!stats.overflowed) Report(stats, step.lr, &metrics_);
  if (!stats.applied && !stats.overflowed) SkipTicks();
  if (ticks_left() > 0) return;
  if (scaler_) {  // once, because an iteration's metrics are means over its ticks
    metrics_.Record("train/loss_scale", scaler_->scale());
    metrics_.Record("train/skipped_updates", static_cast<double>(scaler_->skipped()));
  }
  optimizer_.RequireFiniteState();  // before the host saves the state in a checkpoint
  EndUpdate();
}

}  // namespace backplane::on_policy
