#include "trial/best_tracker.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "record/metric_series.hpp"

namespace backplane {

double EvaluatedValue(const std::string& metric, const EpisodeMeans& evaluation) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const auto mean = [&](const Spread& spread) { return spread.mean.value_or(kNone); };
  if (evaluation.episode_return && metric == NameUnder("eval/", "return")) return mean(*evaluation.episode_return);
  for (const auto& [name, spread] : evaluation.metrics)
    if (NameUnder("eval/", name) == metric) return mean(spread);
  return kNone;
}

void BestTracker::Add(const EpisodeMeans& evaluation, const TrialCount& count) {
  if (!config_.metric) return;
  const double value = EvaluatedValue(*config_.metric, evaluation);
  const int direction = config_.Direction();
  if (!std::isfinite(value) || (best_ && direction * value <= direction * best_->value)) return;
  best_ = BestScore{*config_.metric, direction, value, count.iterations, count.env_steps};
  unsaved_ = true;
}

std::string BestTracker::GoOnFrom(const std::optional<BestScore>& saved, const std::optional<BestScore>& known,
                                  uint64_t iterations) {
  const auto of_this_metric = [&](const std::optional<BestScore>& score) {
    return score && score->metric == config_.metric && score->direction == config_.Direction();
  };
  if (!config_.metric) return "";
  // A best of later iterations belongs to a part of the trial that is repeated.
  if (of_this_metric(saved) && saved->iteration <= iterations) {
    best_ = saved;
    return "";
  }
  if (!of_this_metric(known)) return "";
  return fmt::format(
      "its best checkpoint, of iteration {} with {} {:.6g}, is lost; the best one is chosen from the evaluations "
      "after iteration {}",
      known->iteration, known->metric, known->value, iterations);
}

}  // namespace backplane
