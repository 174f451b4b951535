#include "trial/collecting.hpp"

#include <fmt/format.h>

namespace backplane {

void CheckBudgetEnds(const LoopParts& parts, const char* what_it_does) {
  const BudgetConfig& budget = parts.spec.experiment.budget;
  const bool measures = parts.spec.experiment.report.precision_pct.has_value();
  if (!budget.iterations && !budget.env_steps && !budget.episodes && !budget.wall_time_s && !measures)
    throw TrialFailure(
        BP_E_CONFIG, parts.learner.id(),
        fmt::format(
            "{}, but budget.epochs counts passes over a dataset; set budget.iterations, env_steps, episodes or wall_time "
            "instead",
            what_it_does));
}

void Deliver(const bp_delivery& delivery, const LoopParts& parts, const Collecting& collected) {
  try {
    parts.learner.Consume(delivery);
  } catch (const TrialFailure& failure) {
    if (failure.status() != BP_E_NUMERIC) throw;
    const std::optional<std::string> source = collected.NonFiniteObservation();
    if (!source) throw;
    throw TrialFailure(BP_E_NUMERIC, parts.env.id(), *source + "; then: " + failure.what());
  }
}

}  // namespace backplane
