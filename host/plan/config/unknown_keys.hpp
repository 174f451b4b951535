// Suggestions for unknown keys.
#pragma once

#include <string>
#include <vector>

#include "config/plugins.hpp"

namespace backplane {

// Full paths of the keys and options nearest to an unknown path: first in its section ("rollout", "env.options", "" at the
// top), or in the nearest section if it is unknown, too.
std::vector<std::string> NearestPaths(const std::string& path, const std::vector<PluginSlot>& slots);

struct KeyHint {
  std::string what;  // the end of an error message: names of the same section without its path
  std::string line;  // to paste instead of the entry; empty: none
};
// For an unknown key in `section` of `root`.
KeyHint HintFor(const std::string& section, const Entry& entry, const Node& root, const std::vector<PluginSlot>& slots);

}  // namespace backplane
