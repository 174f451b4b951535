// Starts the workers of a trial (`rollout.workers`) and checks which learners they support.
#pragma once

#include <filesystem>
#include <memory>

#include "contract/trial_spec.hpp"
#include "rollout/instance.hpp"
#include "workers/link.hpp"

namespace backplane {

inline constexpr char kWorkersKey[] = "rollout.workers";

// Starts the trial's workers, which load their plugins from now on; NULL: it has none. Call it on the thread that runs the
// trial, because they end with it. Throws std::runtime_error, and TrialFailure (BP_E_CONFIG) if another attempt would fail too.
std::unique_ptr<StartedWorkers> StartWorkers(const TrialSpec& spec, const std::filesystem::path& trial_json);

// Throws TrialFailure (BP_E_UNSUPPORTED) if other processes cannot play for this learner.
void CheckPlaysElsewhere(const LearnerInstance& learner);
// The same check for a request, such as the first one: rollouts need an env whose rows can move to another process.
void CheckPlaysElsewhere(const LearnerInstance& learner, const EnvInstance& env, const bp_request& request);

}  // namespace backplane
