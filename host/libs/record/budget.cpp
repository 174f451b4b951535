#include "record/budget.hpp"

namespace backplane {
namespace {

constexpr char kEpochs[] = "data/epoch";  // recorded by the loop of a data set

}  // namespace

bool Reached(const Budget& budget, const Reach& reach) {
  return (budget.iterations && reach.iterations >= *budget.iterations) ||
         (budget.env_steps && reach.env_steps >= *budget.env_steps) ||
         (budget.episodes && reach.episodes >= *budget.episodes) ||
         (budget.epochs && reach.epochs >= static_cast<double>(*budget.epochs)) ||
         (budget.wall_time_s && reach.seconds >= *budget.wall_time_s);
}

Reach ReachOf(const Iteration& line) {
  const auto epochs = line.metrics.find(kEpochs);
  return {line.iteration.value_or(0), line.step.value_or(0), line.episodes.value_or(0),
          epochs != line.metrics.end() ? epochs->second : 0, line.time.t.value_or(0)};
}

Reach ReachOf(const TrialResult& result) {
  return {result.iterations.value_or(0), result.env_steps.value_or(0), result.episodes.value_or(0),
          result.data ? result.data->epochs : 0, result.trial_s.value_or(0)};
}

bool Extends(const Budget& budget, const TrialResult& result) {
  const Reach reach = ReachOf(result);
  return result.state == TrialState::kCompleted && result.budget && Reached(*result.budget, reach) && !Reached(budget, reach);
}

}  // namespace backplane
