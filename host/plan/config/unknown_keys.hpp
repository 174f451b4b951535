// Suggestions for unknown keys.
#pragma once

#include <string>
#include <vector>

#include "config/plugins.hpp"

namespace backplane {

// Full paths of the keys and options nearest to an unknown path: first in its section ("rollout", "env.options", "" at the
// top), or in the nearest section if it is unknown, too.
std::vector<std::string> NearestPaths(const std::string& path, const std::vector<PluginSlot>& slots);

// The end of an error message about `key` in `section`: names of the same section without its path.
std::string Hint(const std::string& section, const std::string& key, const std::vector<PluginSlot>& slots);

}  // namespace backplane
