// Plays the episodes of `backplane evaluate`. The trial's record stays as it is.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "record/evaluation_order.hpp"
#include "rollout/evaluator.hpp"
#include "trial/threads.hpp"

namespace backplane {

// Rows and chunks for so many episodes. They never depend on the cores, because results depend on the rows of a call.
struct EvaluationShape {
  uint64_t rows = 1, chunk_rows = 1;
};
EvaluationShape ShapeOfEvaluation(uint64_t episodes);

// Plays all plays of the order. `env` has the rows of ShapeOfEvaluation and is bound here. `max_episode_steps`: cap of an
// episode that the env does not end. Throws TrialFailure: BP_E_CONFIG for a parameter that the env does not declare. [control]
EvaluationAnswer PlayOrder(const EvaluationOrder& order, EnvInstance& env, LearnerInstance& learner, TrialThreads& threads,
                           uint64_t max_episode_steps, const std::atomic<bool>& cancelled, const std::function<void()>& beat);

}  // namespace backplane
