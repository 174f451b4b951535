#include "trial/goal_tracker.hpp"

#include "record/attempt_json.hpp"
#include "trial/best_tracker.hpp"

namespace backplane {

void GoalTracker::Add(const EpisodeMeans& evaluation, const TrialCount& count) {
  Add(evaluation, count.iterations, count.env_steps);
}

void GoalTracker::Add(const EpisodeMeans& evaluation, uint64_t iteration, uint64_t env_steps) {
  if (!goal_ || reached() || !goal_->Add(EvaluatedValue(goal_->goal().metric, evaluation))) return;
  iteration_ = iteration;
  env_steps_ = env_steps;
}

void GoalTracker::GoOnFrom(const TrialFolder& trial, const MetricsRecord& before) {
  if (!goal_ || !before.metrics_parts) return;
  ForEachIteration(trial, *before.metrics_parts, [this](const Iteration& line) {
    if (line.eval) Add(*line.eval, line.iteration.value_or(0), line.step.value_or(0));
  });
}

std::optional<GoalResult> GoalTracker::Result(const TrialCount& count) const {
  if (!goal_) return std::nullopt;
  GoalResult result{goal_->goal()};
  result.reached = reached();
  result.iteration = result.reached ? iteration_ : count.iterations;
  result.env_steps = result.reached ? env_steps_ : count.env_steps;
  return result;
}

}  // namespace backplane
