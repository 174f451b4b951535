// `backplane work`: a worker on a cluster node. It takes orders from the supervisor's folder (work_folder.hpp) and runs them
// with the local engine, each under a shim. Trials on a node thus have the same limits, stops and cleanup as elsewhere.
#pragma once

#include <string>
#include <vector>

namespace backplane {

// `arguments`: those after `backplane work`. Returns after a message, after a minute without an order, if the parent process
// dies, or, after its trials have ended, if the supervisor shows no sign of life. [the main thread of a process with no other
// thread]
int Work(const std::vector<std::string>& arguments);

}  // namespace backplane
