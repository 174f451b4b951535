// The last resort of a process that cannot get to its own loop: a signal handler ends its child processes.
#pragma once

namespace backplane {

// Prepares the call below. [main thread]
void FindChildren();

// Kills the child processes of the main thread. A keeper is signalled to kill its trial instead (keep/keeper.hpp). Only calls
// that a signal handler may make.
void EndChildren();

}  // namespace backplane
