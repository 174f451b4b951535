// What every learner with a clipped surrogate tells of its gradient steps.
#pragma once

#include "backplane/monitor.hpp"
#include "rl/sample_loss.hpp"

namespace backplane::rl {

// Records one step's numbers as train/... [control]
inline void Report(const StepStats& stats, double lr, bp::Metrics* metrics) {
  metrics->Record("train/policy_loss", stats.policy_loss, nullptr, 0, "clipped surrogate, negated");
  metrics->Record("train/value_loss", stats.value_loss, nullptr, -1,
                  "mean loss of the values, half the squared error unless set otherwise");
  metrics->Record("train/entropy", stats.entropy, "nat", 0, "mean entropy of the policy");
  metrics->Record("train/kl", stats.kl, "nat", 0, "estimate of the divergence from the acting policy");
  metrics->Record("train/clip_fraction", stats.clip_fraction, nullptr, 0, "share of samples whose ratio left the clip range");
  if (stats.applied) metrics->Record("train/grad_norm", stats.grad_norm, nullptr, 0, "global norm before clipping");
  metrics->Record("train/lr", lr, nullptr, 0, "learning rate");
}

}  // namespace backplane::rl
