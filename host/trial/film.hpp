// Plays one evaluation episode of a trial for a film.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>

#include "record/film.hpp"
#include "rollout/evaluator.hpp"
#include "trial/threads.hpp"

namespace backplane {

struct FilmLimits {
  uint64_t episode_steps = 0;  // evaluation.max_episode_steps
  std::optional<double> wall_time_s;
};

// Plays episode `episode` of an evaluation with this seed: GREEDY actions, and the same start as the evaluation's row of that
// number. `env` has one row and is bound here. Calls `beat` like the Evaluator. Throws TrialFailure: BP_E_UNSUPPORTED if the
// env cannot draw, BP_E_TIMEOUT if its episode has not ended in time. [control]
Film PlayFilm(EnvInstance& env, LearnerInstance& learner, TrialThreads& threads, uint64_t seed, uint64_t episode,
              const FilmLimits& limits, const std::atomic<bool>& cancelled, const std::function<void()>& beat);

}  // namespace backplane
