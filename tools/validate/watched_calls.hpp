// Notes in Doing which function of a plugin runs. Its tables of functions stand in front of the plugin's own.
#pragma once

#include <memory>

#include "plugin/loader.hpp"

namespace backplane {

// Its tables, including known extensions, call the tables of the plugin. Use it for the validated plugin and for the env of a
// validated learner, for one module of each at a time. A table that is too short stays as it is.
std::unique_ptr<LoadedModule> WatchSubject(std::unique_ptr<LoadedModule> module);
std::unique_ptr<LoadedModule> WatchEnvOfLearner(std::unique_ptr<LoadedModule> module);

}  // namespace backplane
