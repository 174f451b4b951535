// Where commands look for presets, and what `auto` means on this machine.
#pragma once

#include "config/preset_search.hpp"
#include "input/run_args.hpp"

namespace backplane {

std::filesystem::path OwnPresetFolder();  // ../share/backplane/presets from the program

PresetSearch PresetsFor(const FileArgs& args);

}  // namespace backplane
