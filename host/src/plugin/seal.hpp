// Sealing: the step after linking that writes a plugin's descriptors and build facts into its metadata section.
#pragma once

#include <filesystem>

namespace backplane {

// Seals a plugin file in a child process, so that a plugin that crashes, exits or hangs while it is loaded is a sentence.
// Sealing twice gives the same bytes. Throws PluginError.
void Seal(const std::filesystem::path& file);

// The same in this process, which keeps the plugin loaded. Throws PluginError.
void SealInThisProcess(const std::filesystem::path& file);

}  // namespace backplane
