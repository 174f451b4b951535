// Starts the rows of an env that steps all of them together: those with a new job, and idle ones whose episode has ended.
#include <algorithm>

#include "rollout/candidate_scorer.hpp"

namespace backplane {

// Also rows that get no job, because they step with the others.
void CandidateScorer::StartAllRows() {
  std::fill(starting_.begin(), starting_.end(), 1);
  std::fill(row_seeds_.begin(), row_seeds_.end(), seeds_[0]);
}

// An env may not step past an end, and a job of a row may have just ended. Idle rows play with the same seed again.
void CandidateScorer::RestartIdleRows() {
  for (uint64_t row = 0; row < candidate_.size(); ++row)
    if (candidate_[row] < 0 && tracker_.ended_by_env(row)) starting_[row] = 1;
}

void CandidateScorer::ResetStarting(PhaseClock& clock) {
  const Phase before = clock.Switch(Phase::kEnvReset);
  ResetStarting();
  clock.Switch(before);
}

void CandidateScorer::ResetStarting() {
  if (std::find(starting_.begin(), starting_.end(), 1) == starting_.end()) return;
  Reset(0, env_.rows(), starting_.data());
  std::fill(starting_.begin(), starting_.end(), 0);
}

}  // namespace backplane
