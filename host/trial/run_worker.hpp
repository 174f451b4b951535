// A worker: the process of `backplane-trial play`, which plays jobs of a trial's evaluations of candidates. It creates an env
// and a learner like the trial's, and records nothing.
#pragma once

#include "workers/worker_order.hpp"

namespace backplane {

// Plays until the trial is gone. Returns an exit code (TrialExit), which the trial ignores, because it receives failures by
// message. The caller exits with _exit.
int RunWorker(const WorkerOrder& order);

}  // namespace backplane
