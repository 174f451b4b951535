// The threads of a trial, their clocks, and their division among tasks.
#pragma once

#include <vector>

#include "contract/experiment.hpp"
#include "rollout/parallel.hpp"
#include "rollout/phase_clock.hpp"
#include "rollout/pool.hpp"

namespace backplane {

// One pool of rollout.threads threads, by default the granted cores. All of them share the learner's pieces. The first runners
// collect and evaluate: rollout.threads, by default min(env runners, granted cores), or one if a plugin is not thread-safe. If
// only the learner is not, as many step the env.
// (All evaluate if the division does not change results: TrialEvaluation.)
class TrialThreads {
 public:
  // `calls`: env and learner are both thread-safe. `steps`: the env is. Throws TrialFailure like RunnerPool.
  struct Concurrent {
    bool calls, steps;
  };
  TrialThreads(const RolloutConfig& rollout, Concurrent concurrent);
  TrialThreads(const TrialThreads&) = delete;

  unsigned all() const { return pool_.threads(); }
  unsigned collecting() const { return collecting_; }
  unsigned stepping() const { return stepping_; }  // `collecting` or more
  Runners collectors() { return {pool_, collecting_}; }
  Runners steppers() { return {pool_, stepping_}; }  // may call into the env concurrently
  // All threads that may call into env and learner concurrently, whatever the number of env runners.
  Runners callers() { return {pool_, callers_}; }
  ParallelFor& parallel() { return parallel_; }
  std::vector<PhaseClock>& clocks() { return clocks_; }  // [all()]; clocks[0] is the control thread's
  const std::vector<PhaseClock>& clocks() const { return clocks_; }

 private:
  RunnerPool pool_;
  unsigned callers_, stepping_, collecting_;
  std::vector<PhaseClock> clocks_;
  ParallelFor parallel_;
};

}  // namespace backplane
