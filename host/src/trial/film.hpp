// Plays one evaluation episode of a trial for a film.
#pragma once

#include <atomic>
#include <cstdint>

#include "record/film.hpp"
#include "rollout/evaluator.hpp"
#include "trial/threads.hpp"

namespace backplane {

// Plays episode `episode` of an evaluation with this seed: GREEDY actions, the start that the evaluation's row of that number
// has. `env` has one row and is bound here. Throws TrialFailure (BP_E_UNSUPPORTED) if the env does not draw. [control]
Film PlayFilm(EnvInstance& env, LearnerInstance& learner, TrialThreads& threads, uint64_t seed, uint64_t episode,
              const std::atomic<bool>& cancelled);

}  // namespace backplane
