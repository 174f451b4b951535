// Other names of options: after rewriting, every option stands under its own name, and options that are another name of a host
// key stand at that key.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "config/plugins.hpp"

namespace backplane {

struct HostKey;

// The host key that this option is another name of; NULL: it is an option of its own.
const HostKey* HostKeyOf(const OptionInfo& option);

// A plain number becomes a size or a duration of the option's unit where the host key wants one: 4096 -> 4096MB.
Node ForHostKey(Node value, const OptionInfo& option);

// Of an entry that is called by another name of a host key: moves it there and says so.
void ReadAsHostKey(const HostKey& key, Entry entry, Node* root, Errors* errors);
void NoteAlias(const Mark& mark, const std::string& name, const std::string& path, Errors* errors);

// Doing it again changes nothing. An alias beside its target is an error.
void RewriteAliases(Node* root, const std::vector<PluginSlot>& slots, Errors* errors);

// The host key's value as the plugin is to see it, in the option's type and unit; nothing if the key has no such value.
std::optional<nlohmann::json> FromHostKey(const nlohmann::json& value, const OptionInfo& option);

// Options that are another name of a host key, as the plugin is to see them: the key's value in `experiment` (ToJson), else the
// option's default.
void AddHostNamed(const PluginInfo& info, const nlohmann::json& experiment, nlohmann::json* options);

}  // namespace backplane
