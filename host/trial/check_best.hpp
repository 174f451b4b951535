// Checks that evaluations record the metrics that choose the best checkpoint and end the trial.
#pragma once

#include "contract/trial_spec.hpp"
#include "rollout/instance.hpp"

namespace backplane {

inline constexpr char kBestMetricKey[] = "checkpoint.best.metric";

// Throws TrialFailure (BP_E_CONFIG): the learner saves no state, or evaluations of this env do not record the metric. No error
// without checkpoint.best.
void CheckBest(const TrialSpec& spec, const EnvInstance& env, LearnerInstance& learner);
// The same for budget.until, without the learner's state.
void CheckGoal(const TrialSpec& spec, const EnvInstance& env, LearnerInstance& learner);

}  // namespace backplane
