// Parts: libraries that belong to a plugin's file and are opened on the plugin's request ("bp.host.part/1").
#pragma once

#include <filesystem>
#include <string>

#include "plugin/plugin_info.hpp"

namespace backplane {

// The entry of a part in a plugin's section: `part` is next to `plugin`, has its stem with a name appended
// ("learner_ppo" and "learner_ppo_torch": "torch"), and is sealed. Throws PluginError.
PartInfo DescribePart(const std::filesystem::path& plugin, const std::filesystem::path& part);

// The part that the plugin was sealed with, from its own section, without opening it. Throws PluginError if the plugin has no
// such part, or if the file is missing, different, or not loadable by this host.
PluginInfo FindPart(const PluginInfo& plugin, const std::string& name);

}  // namespace backplane
