// Plays the jobs of an evaluation of candidates in other processes, on any machine, instead of this process's rows.
#pragma once

#include <vector>

#include "backplane/learner.h"
#include "rollout/candidate_scores.hpp"
#include "rollout/job_queue.hpp"
#include "rollout/phase_clock.hpp"
#include "rollout/pool.hpp"

namespace backplane {

class PlayElsewhere {
 public:
  virtual ~PlayElsewhere() = default;
  // Plays the jobs of `queue` and puts their results into `scores`. If it returns true, unfinished jobs are in the queue again,
  // for this process. False if cancelled or out of time. Throws TrialFailure, or std::runtime_error if no plugin is at fault.
  // clocks[0] is the caller's and already runs. [control]
  virtual bool Play(const bp_request& request, JobQueue* queue, CandidateScores* scores, std::vector<PhaseClock>& clocks) = 0;
  // The use of the threads there.
  virtual PoolUse use() const = 0;
};

}  // namespace backplane
