// What a user may have meant by a key that nobody declares.
#pragma once

#include <string>
#include <vector>

#include "config/plugins.hpp"

namespace backplane {

// Full paths of the nearest keys and options to a path that nobody declares: those of its section ("rollout", "env.options", ""
// at the top) first, and those of the nearest section where there is none of that name.
std::vector<std::string> NearestPaths(const std::string& path, const std::vector<PluginSlot>& slots);

// The end of an error message about `key` in `section`: names of the same section without its path.
std::string Hint(const std::string& section, const std::string& key, const std::vector<PluginSlot>& slots);

}  // namespace backplane
