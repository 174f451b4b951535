// The changes of a preset to the computation of an experiment, for the first note of a run.
#pragma once

#include <string>

#include "config/resolver.hpp"

namespace backplane {

// A sentence with each old and new value: options of plugins, which may change the training, then other values of a trial's
// identity. Empty: the preset changes none of them, or there is no preset. Errors of the file are not reported.
std::string SayPresetChanges(const ExperimentText& text, const PluginLookup& lookup, const KeyDefaults& defaults);

}  // namespace backplane
