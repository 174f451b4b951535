// `backplane work`: what runs on a node of a cluster. It takes orders from the supervisor's folder (work_folder.hpp) and runs
// them as the engine of that machine does, each under its shim, so that a trial on a node is limited, stopped and cleaned up
// as it is everywhere.
#pragma once

#include <string>
#include <vector>

namespace backplane {

// `arguments`: what follows `backplane work` (work_arguments.hpp).
// Ends when it is told to, when nothing was to do for a minute, when its parent process dies, and, after what it runs, when the
// supervisor gives no sign of life. [the main thread of a process with no other thread]
int Work(const std::vector<std::string>& arguments);

}  // namespace backplane
