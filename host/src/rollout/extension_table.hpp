// The table of functions that a plugin gives for an extension: whole, or the host does not call through it.
#pragma once

#include <cstdint>
#include <string>

namespace backplane {

// `table` if it has `bytes` bytes and a function in each place from its 8th byte on, as all tables of backplane/ext/ are made.
// NULL for NULL: the plugin does not offer it. Throws TrialFailure that names the plugin `id` and the extension.
const void* CheckExtensionTable(const std::string& id, const char* extension, const void* table, uint32_t bytes);

}  // namespace backplane
