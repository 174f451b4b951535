// Symbols that a plugin exports by mistake: plugins of one process would share the variables behind them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace backplane {

// All but bp_module_v1. Throws PluginError if the file is no shared library.
std::vector<std::string> SurplusExports(const std::filesystem::path& file);

// One sentence on them with the fix. Empty: there are none, or the file cannot be read.
std::string SurplusExportsText(const std::filesystem::path& file);

}  // namespace backplane
