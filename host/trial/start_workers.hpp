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

// Throws TrialFailure (BP_E_UNSUPPORTED) if other processes cannot play this learner's candidates.
void CheckPlaysElsewhere(const LearnerInstance& learner);
// The same check for its first request, before any update.
void CheckPlaysElsewhere(const LearnerInstance& learner, const bp_request& first);

}  // namespace backplane
