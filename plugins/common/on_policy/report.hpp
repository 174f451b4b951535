// Metrics of the gradient steps of every learner with a clipped surrogate.
#pragma once

#include "backplane/monitor.hpp"
#include "on_policy/clipped_loss.hpp"

namespace backplane::on_policy {

inline constexpr bp::MetricInfo kStepMetrics[] = {
    {"train/policy_loss", nullptr, 0, "clipped surrogate, negated"},
    {"train/value_loss", nullptr, -1, "mean loss of the values, half the squared error unless set otherwise"},
    {"train/entropy", "nat", 0, "mean entropy of the policy"},
    {"train/kl", "nat", 0, "estimate of the divergence from the acting policy"},
    {"train/clip_fraction", nullptr, 0, "share of samples whose ratio left the clip range"},
    {"train/grad_norm", nullptr, 0, "global norm before clipping"},
    {"train/lr", nullptr, 0, "learning rate"},
};

// Records one step's numbers as train/... (kStepMetrics). [control]
inline void Report(const StepStats& stats, double lr, bp::Metrics* metrics) {
  metrics->Record("train/policy_loss", stats.policy_loss);
  metrics->Record("train/value_loss", stats.value_loss);
  metrics->Record("train/entropy", stats.entropy);
  metrics->Record("train/kl", stats.kl);
  metrics->Record("train/clip_fraction", stats.clip_fraction);
  if (stats.applied) metrics->Record("train/grad_norm", stats.grad_norm);
  metrics->Record("train/lr", lr);
}

}  // namespace backplane::on_policy
