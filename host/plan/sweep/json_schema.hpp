// The experiment file as a JSON Schema (draft 07), for editors and for checks without this program.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "plugin/plugin_info.hpp"

namespace backplane {

// Made from the host's table of keys and the option tables of these plugins; each plugin's options apply where a file names it
// by its id. Laxer than the reader where a schema cannot say more: whether a path of the sweep exists, whether an alias stands
// beside its target, whether two values fit together.
nlohmann::json JsonSchema(const std::vector<const PluginInfo*>& plugins);

}  // namespace backplane
