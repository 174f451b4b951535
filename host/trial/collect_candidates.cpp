#include "trial/collect_candidates.hpp"

#include <fmt/format.h>

#include <utility>

#include "trial/budget.hpp"
#include "trial/plugin_state.hpp"

namespace backplane {

void CollectCandidates::Check(const bp_request& request) const {
  CheckBudgetEnds(parts_, "evaluates candidates");
  CandidateScorer::Check(request, parts_.env, parts_.learner);
}

// The next request is unknown here. Sending the state is cheap compared with the gain from workers.
void CollectCandidates::BeforePlan(const bp_limits& limits) {
  if (parts_.workers == nullptr) return;
  turn_begun_ = true;
  parts_.workers->BeginTurn(limits, SaveLearner(*StateOf(parts_.learner), parts_.learner));
}

bool CollectCandidates::Collect(const bp_request& request) {
  state_.iteration.Start();
  state_.iteration.begun = true;
  parts_.status.SetPhase("evaluate");
  CandidateScorer& scorer = BoundScorer();
  const BudgetConfig& budget = parts_.spec.experiment.budget;
  const Spent spent = state_.count.SpentOfBudget(state_.clock.trial_s(), 0);
  const int64_t deadline_ns = DeadlineOf(budget, spent, Deadline::kPatienceAfterBudget);
  scorer.EndBy(deadline_ns);
  if (parts_.workers != nullptr) parts_.workers->EndBy(deadline_ns);
  if (!scorer.Score(request, parts_.threads.clocks(), std::exchange(turn_begun_, false) ? parts_.workers : nullptr))
    return false;
  WarnOfCapped(scorer);
  record_.Add(scorer.env_steps(), scorer.episodes(), scorer.info_names());
  record_.AddUse(scorer.use());
  const PhaseSpan span(parts_.clock(), Phase::kBatchBuild);
  parts_.status.SetPhase("batch_build");
  bp_delivery delivery = scorer.Delivery();
  delivery.env_steps = state_.count.env_steps;
  state_.fingerprints.AddScores(delivery);
  Deliver(delivery, parts_, *this);
  return true;
}

void CollectCandidates::WarnOfCapped(const CandidateScorer& scorer) {
  if (warned_of_cap_) return;
  const uint64_t capped = scorer.capped();
  if (capped == 0) return;
  warned_of_cap_ = true;
  warnings_.Add(
      fmt::format("{}: {} of {} candidate episodes were truncated after {} steps (evaluation.max_episode_steps), so "
                  "their returns cover only these steps; give the env a time limit, or raise this limit",
                  parts_.env.id(), capped, scorer.episodes().size(), scorer.cap()));
}

CandidateScorer& CollectCandidates::BoundScorer() {
  if (!scorer_) {
    scorer_ = std::make_unique<CandidateScorer>(parts_.env, parts_.learner, parts_.threads.collectors(), parts_.chunk_rows,
                                                parts_.spec.experiment.seed, parts_.stop(),
                                                [&status = parts_.status] { status.Beat(); });
    scorer_->CapEpisodes(parts_.spec.experiment.evaluation.max_episode_steps);
  }
  if (!std::exchange(bound_, true)) scorer_->Bind();
  return *scorer_;
}

}  // namespace backplane
