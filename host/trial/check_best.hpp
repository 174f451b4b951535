// Checks that a trial can keep the checkpoint of its best evaluation.
#pragma once

#include "contract/trial_spec.hpp"
#include "rollout/instance.hpp"

namespace backplane {

inline constexpr char kBestMetricKey[] = "checkpoint.best.metric";

// Throws TrialFailure (BP_E_CONFIG): the learner saves no state, or evaluations of this env do not record the metric. No error
// without checkpoint.best.
void CheckBest(const TrialSpec& spec, const EnvInstance& env, LearnerInstance& learner);

}  // namespace backplane
