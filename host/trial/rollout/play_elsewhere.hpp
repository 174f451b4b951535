// Who plays the jobs of an evaluation of candidates in the place of this process's rows: other processes, of any machine.
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
  // Has the jobs that `queue` gives played, and puts what they gave into `scores`. Jobs that are not finished when it returns
  // true are in the queue again, for this process. False if cancelled or out of time on the way. Throws TrialFailure, and
  // std::runtime_error if no plugin is at fault. clocks[0] is the caller's and runs already. [control]
  virtual bool Play(const bp_request& request, JobQueue* queue, CandidateScores* scores, std::vector<PhaseClock>& clocks) = 0;
  // How well the threads there were used.
  virtual PoolUse use() const = 0;
};

}  // namespace backplane
