// A worker: the process of `backplane-trial play`, which plays jobs of a trial's evaluations of candidates. It has an env and a
// learner of its own, made as the trial's are, and nothing to record.
#pragma once

#include "workers/worker_order.hpp"

namespace backplane {

// Plays until the trial is gone. Returns an exit code (TrialExit), which the trial does not look at: it is told of failures.
// The caller leaves with _exit.
int RunWorker(const WorkerOrder& order);

}  // namespace backplane
