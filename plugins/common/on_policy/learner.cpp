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

StepOptions Learner::CurrentStep() const {
  // SB3 stops at 1.5 times the target.
  return {.lr = options().lr, .grad_clip = options().grad_clip, .kl_stop = 1.5 * options().kl_target};
}

LossOptions Learner::CurrentLoss(double clip) const {
  const Options& o = options();
  const double vf_clip = o.vf_clip_param > 0 ? o.vf_clip_param : clip;
  return {.clip = clip,
          .vf_clip = o.vf_clip ? vf_clip : 0,
          .huber_delta = 0,
          .entropy_coeff = Scheduled(o.entropy_schedule, o.entropy_coeff, progress()),
          .vf_coeff = o.vf_coeff};
}

void Learner::OnTick(uint64_t index) {
  const int64_t part = static_cast<int64_t>(index) % Minibatches();
  if (part == 0) Shuffle(bp_seed(seed_, BP_PURPOSE_LEARNER, 0, epochs_done_++));
  StepStats stats = Gradient(part);
  const StepOptions step = CurrentStep();
  {
    const bp::PhaseScope phase(host(), BP_PHASE_UPDATE_OPTIM);
    optimizer_.Step(step, parallel_, &stats);
  }
  Report(stats, step.lr, &metrics_);
  if (!stats.applied) SkipTicks();
  if (ticks_left() > 0) return;
  optimizer_.RequireFiniteState();  // before the host saves the state in a checkpoint
  EndUpdate();
}

}  // namespace backplane::on_policy
