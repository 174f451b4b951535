// Other names of options: after rewriting, every option stands under its own name, and options that are another name of a host
// key stand at that key.
#pragma once

#include <string>
#include <vector>

#include "config/plugins.hpp"
#include "plugin/host_named.hpp"

namespace backplane {

// A plain number becomes a size or a duration of the option's unit where the host key wants one: 4096 -> 4096MB.
Node ForHostKey(Node value, const OptionInfo& option);

// Moves an entry with another name of a host key to that key and notes it.
void ReadAsHostKey(const HostKey& key, Entry entry, Node* root, Errors* errors);
void NoteAlias(const Mark& mark, const std::string& name, const std::string& path, Errors* errors);

// Idempotent. An alias next to its target is an error.
void RewriteAliases(Node* root, const std::vector<PluginSlot>& slots, Errors* errors);

}  // namespace backplane
