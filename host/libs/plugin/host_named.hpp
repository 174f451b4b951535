// Options of a plugin that are other names of the host's own keys.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "plugin/plugin_info.hpp"

namespace backplane {

struct HostKey;

// The host key that this option aliases; NULL: none.
const HostKey* HostKeyOf(const OptionInfo& option);

bool IsMeasured(const HostKey& key);  // its value is a size or a duration

// The host key's value in the option's type and unit; absent if the key has no such value.
std::optional<nlohmann::json> FromHostKey(const nlohmann::json& value, const OptionInfo& option);

// Sets the options that alias a host key: the key's value in `experiment` (ToJson), else the option's default.
void AddHostNamed(const PluginInfo& info, const nlohmann::json& experiment, nlohmann::json* options);

}  // namespace backplane
