// Options of a plugin that are other names of the host's own keys.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "plugin/plugin_info.hpp"

namespace backplane {

struct HostKey;

// The host key that this option is another name of; NULL: it is an option of its own.
const HostKey* HostKeyOf(const OptionInfo& option);

bool IsMeasured(const HostKey& key);  // its value is a size or a duration

// The host key's value as the plugin is to see it, in the option's type and unit; nothing if the key has no such value.
std::optional<nlohmann::json> FromHostKey(const nlohmann::json& value, const OptionInfo& option);

// Options that are another name of a host key, as the plugin is to see them: the key's value in `experiment` (ToJson), else the
// option's default.
void AddHostNamed(const PluginInfo& info, const nlohmann::json& experiment, nlohmann::json* options);

}  // namespace backplane
