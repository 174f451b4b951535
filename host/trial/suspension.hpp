// Excludes the time in which the process was stopped (SIGSTOP, a frozen control group) from the host's clock
// (rollout/clocks.hpp), and so from speeds, budgets and phases.
#pragma once

#include "trial/status.hpp"

namespace backplane {

// Starts the watch for the rest of the process's life, and writes the trial's own time into the status file about 20 times per
// second. Call it once, on the control thread, before other threads exist. `status` is never destroyed.
void WatchSuspension(StatusWriter* status);

}  // namespace backplane
