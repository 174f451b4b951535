// Notes in Doing in which function of a plugin the process is, by tables of functions in front of the plugin's own.
#pragma once

#include <memory>

#include "plugin/loader.hpp"

namespace backplane {

// Its tables, and those of its extensions that the host knows, call the plugin's. For the plugin that is validated, and for the
// env in which a learner is tried; one module of each at a time. A table that is shorter than it must be is left as it is.
std::unique_ptr<LoadedModule> WatchSubject(std::unique_ptr<LoadedModule> module);
std::unique_ptr<LoadedModule> WatchEnvOfLearner(std::unique_ptr<LoadedModule> module);

}  // namespace backplane
