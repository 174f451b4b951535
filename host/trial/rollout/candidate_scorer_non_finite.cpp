// Finds the scorer's first non-finite number. Runs only after a failure.
#include <fmt/format.h>

#include <cmath>

#include "rollout/candidate_scorer.hpp"
#include "rollout/non_finite.hpp"

namespace backplane {

std::optional<std::string> CandidateScorer::NonFiniteObservation() const {
  const auto found = scores_.FirstNonFinite();
  if (!found) return std::nullopt;
  const auto [job, number] = *found;
  return fmt::format("observation {}[{}] of candidate {} was not finite in its episode {}", obs_.name(), number,
                     job / episodes_each_, job % episodes_each_);
}

std::string CandidateScorer::StepOf(uint64_t job, int64_t step) const {
  return fmt::format("candidate {} at step {} of its episode {}", job / episodes_each_, step, job % episodes_each_);
}

// Reports the first row with a non-finite step.
void CandidateScorer::RefuseStep(const RowRange& rows) {
  for (uint64_t row = rows.begin;; ++row) {
    const Player& player = players_[row];
    if (!std::isfinite(player.episode_return)) RefuseReward(row);
    tracker_.CheckFlags(row, "with " + StepOf(player.job, player.episode_length));
  }
}

// A float64 sum of float32 values stays finite unless one of them is not. Only one slot of an episode is kept, so the episode
// is replayed to find its first non-finite observation.
void CandidateScorer::RefuseReward(uint64_t row) {
  run_.Stop();
  const uint64_t job = players_[row].job, candidate = job / episodes_each_;
  const int64_t step = players_[row].episode_length;
  std::string sentence = fmt::format("the reward of candidate {} is not a finite number at step {} of its episode {}",
                                     candidate, step, job % episodes_each_);
  int64_t found_at = 0;
  if (const auto source = ReplayForNonFinite(row, job, step, &found_at)) {
    const std::string when = found_at > 0 ? fmt::format("at step {}", found_at) : "at the start";
    sentence = fmt::format("{} {} of its episode {}", *source, when, job % episodes_each_) +
               (found_at < step ? "; then: " + sentence : ", nor is the reward");
  }
  throw TrialFailure(BP_E_NUMERIC, env_.id(), sentence);
}

void CandidateScorer::RefuseAction(const RowRange& rows) {
  run_.Stop();
  const BadAction bad = actions_.Find(0, rows.begin, rows.end);
  const uint64_t job = players_[bad.row].job, episode = job % episodes_each_;
  const int64_t steps = players_[bad.row].episode_length;
  auto source = NonFiniteEntry(obs_, 0, bad.row, obs_per_row_, fmt::format("candidate {}", job / episodes_each_));
  if (source)
    *source += steps > 0 ? fmt::format(" at step {} of its episode {}", steps, episode)
                         : fmt::format(" at the start of its episode {}", episode);
  backplane::RefuseAction(bad, "by " + StepOf(job, steps + 1), source, env_, learner_);
}

std::optional<std::string> CandidateScorer::ReplayForNonFinite(uint64_t row, uint64_t job, int64_t steps, int64_t* out_step) {
  const std::string whose = fmt::format("candidate {}", job / episodes_each_);
  const RowRange rows = whole_ ? RowRange{0, env_.rows()} : RowRange{row, row + 1};
  if (whole_) {
    std::fill(candidate_.begin(), candidate_.end(), -1);
    StartAllRows();
  }
  Begin(row, job);
  for (int64_t step = 0; step <= steps; ++step) {
    if (step > 0) {
      Act(rows);
      StepEnv(rows);
    }
    if (whole_) {
      RestartIdleRows();
      ResetStarting();
    }
    *out_step = step;
    if (auto found = NonFiniteEntry(obs_, 0, row, obs_per_row_, whose)) return found;
    if (state_ == nullptr) continue;
    if (auto found = NonFiniteEntry(*state_, 0, row, state_per_row_, whose)) return found;
  }
  return std::nullopt;
}

}  // namespace backplane
