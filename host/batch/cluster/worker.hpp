// `backplane work`: what runs on a node of a cluster. It takes orders from the supervisor's folder (work_folder.hpp) and runs
// them as the engine of that machine does, each under its shim, so that a trial on a node is limited, stopped and cleaned up
// as it is everywhere.
#pragma once

#include <string>
#include <vector>

namespace backplane {

// `arguments`: the words behind `backplane work`. Returns after a message, after a minute without an order, if the parent
// process dies, and, once its trials have ended, if the supervisor shows no sign of life. [the main thread of a process with no
// other thread]
int Work(const std::vector<std::string>& arguments);

}  // namespace backplane
