// The workers of a trial (`rollout.workers`): which learners they can play for, and how they are started.
#pragma once

#include <filesystem>
#include <memory>

#include "contract/trial_spec.hpp"
#include "rollout/instance.hpp"
#include "workers/link.hpp"

namespace backplane {

inline constexpr char kWorkersKey[] = "rollout.workers";

// As many as the trial is to have, which load their plugins from now on; NULL: it is to have none. From the thread that runs
// the trial: they end with it. Throws std::runtime_error, and TrialFailure (BP_E_CONFIG)
// where a further try would end alike.
std::unique_ptr<StartedWorkers> StartWorkers(const TrialSpec& spec, const std::filesystem::path& trial_json);

// Throws TrialFailure (BP_E_UNSUPPORTED) if other processes cannot play what this learner has evaluated.
void CheckPlaysElsewhere(const LearnerInstance& learner);
// The same of what it asks for first, before anything has been learned.
void CheckPlaysElsewhere(const LearnerInstance& learner, const bp_request& first);

}  // namespace backplane
