// Parts: libraries that belong to a plugin's file and are opened when the plugin asks for them ("bp.host.part/1").
#pragma once

#include <filesystem>
#include <string>

#include "plugin/plugin_info.hpp"

namespace backplane {

// What a plugin's section says of a part when it is sealed: `part` lies beside `plugin`, has its stem and a name after it
// ("learner_ppo" and "learner_ppo_torch": "torch"), and is sealed. Throws PluginError.
PartInfo DescribePart(const std::filesystem::path& plugin, const std::filesystem::path& part);

// The part that the plugin was sealed with, as its own section describes it; not opened. Throws PluginError: the plugin has no
// such part, the file is not there, is another one, or can not be loaded by this host.
PluginInfo FindPart(const PluginInfo& plugin, const std::string& name);

}  // namespace backplane
