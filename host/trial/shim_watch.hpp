// Ties a trial to its shim. If the shim is killed together with the supervisor, the trial must end itself and its child
// processes.
#pragma once

namespace backplane {

// Reads the link from the environment and hides it from child processes. From now on, the end of the shim kills this process
// and its children by SIGKILL, within a second: all of its control group or, without one, its session and descendants. Does
// nothing if no shim started this process. [main thread, before any other]
void WatchShim();

}  // namespace backplane
