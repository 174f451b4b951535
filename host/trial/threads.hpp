// The threads of a trial, their clocks, and who uses how many of them.
#pragma once

#include <vector>

#include "contract/experiment.hpp"
#include "rollout/parallel.hpp"
#include "rollout/phase_clock.hpp"
#include "rollout/pool.hpp"

namespace backplane {

// One pool: rollout.threads, or the cores granted. All of it shares the learner's pieces. The first of its runners collect and
// evaluate: min(env runners, cores granted) unless rollout.threads says otherwise, and one if a plugin cannot bear more. (All
// of them evaluate where the cut changes nothing: TrialEvaluation.)
class TrialThreads {
 public:
  // `rows_concurrent`: env and learner both bear several threads. Throws TrialFailure as RunnerPool does.
  TrialThreads(const RolloutConfig& rollout, bool rows_concurrent);
  TrialThreads(const TrialThreads&) = delete;

  unsigned all() const { return pool_.threads(); }
  unsigned collecting() const { return collecting_; }
  Runners collectors() { return {pool_, collecting_}; }
  // All that may call into env and learner at once, whatever the file says of runners.
  Runners callers() { return {pool_, callers_}; }
  ParallelFor& parallel() { return parallel_; }
  std::vector<PhaseClock>& clocks() { return clocks_; }  // [all()]; clocks[0] is the control thread's
  const std::vector<PhaseClock>& clocks() const { return clocks_; }

 private:
  RunnerPool pool_;
  unsigned callers_, collecting_;
  std::vector<PhaseClock> clocks_;
  ParallelFor parallel_;
};

}  // namespace backplane
