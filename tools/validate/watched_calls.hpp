// Records the plugin's running function in Doing, through tables of functions in front of the plugin's own.
#pragma once

#include <memory>

#include "plugin/loader.hpp"

namespace backplane {

// Its tables, including known extensions, call the plugin's tables. Use it for the validated plugin and for the env of a
// validated learner, one module of each at a time. Leaves tables unchanged if they are too short.
std::unique_ptr<LoadedModule> WatchSubject(std::unique_ptr<LoadedModule> module);
std::unique_ptr<LoadedModule> WatchEnvOfLearner(std::unique_ptr<LoadedModule> module);

}  // namespace backplane
