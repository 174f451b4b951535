// Ends a process that plays for a film and gives no sign of life: no supervisor watches it.
#pragma once

#include "trial/status.hpp"

namespace backplane {

// Called once, by the control thread, after InstallCrashHandlers. If `status` is then not beaten for so long, the process ends
// with the exit code of a timeout and names the plugin. Time in which the process was stopped does not count.
void EndIfItHangs(StatusWriter* status, double timeout_s);

}  // namespace backplane
