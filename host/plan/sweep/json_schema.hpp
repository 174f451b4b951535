// The experiment file as a JSON Schema (draft 07), for editors and for checks without this program.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "plugin/plugin_info.hpp"

namespace backplane {

// Made from the host's table of keys and the option tables of these plugins; each plugin's options apply if a file names it by
// its id. A schema cannot check that a path of the sweep exists, that an alias is not next to its target, or that two values
// fit together.
nlohmann::json JsonSchema(const std::vector<const PluginInfo*>& plugins);

}  // namespace backplane
