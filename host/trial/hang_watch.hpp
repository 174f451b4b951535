// Ends a hung process that plays for a film, because no supervisor watches it.
#pragma once

#include "trial/status.hpp"

namespace backplane {

// Call it once, on the control thread, after InstallCrashHandlers. If `status` then gets no beat for so long, the process ends
// with the exit code of a timeout and names the plugin. Time in which the process was stopped does not count.
void EndIfItHangs(StatusWriter* status, double timeout_s);

}  // namespace backplane
