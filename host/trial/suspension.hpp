// The time in which the process was stopped (SIGSTOP, a frozen control group) is no time of the trial: it is taken out of the
// host's clock (rollout/clocks.hpp), and so out of speeds, budgets and phases.
#pragma once

#include "trial/status.hpp"

namespace backplane {

// Begins to, for as long as the process lives, and writes the trial's own time into the status file about 20 times a second.
// Once, on the control thread, before there are others. `status` is never destroyed.
void WatchSuspension(StatusWriter* status);

}  // namespace backplane
