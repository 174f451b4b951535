// Ends a process that plays for a film and gives no sign of life: no supervisor watches it.
#pragma once

#include "trial/status.hpp"

namespace backplane {

// Called once, by the control thread, after InstallCrashHandlers. From then on the process ends with the exit code of a timeout
// and a sentence that names the plugin if `status` is not beaten for so long. A process that was stopped did not hang
// meanwhile.
void EndIfItHangs(StatusWriter* status, double timeout_s);

}  // namespace backplane
