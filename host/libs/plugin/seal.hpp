// Sealing: the step after linking that writes a plugin's descriptors and build facts into its metadata section.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "plugin/plugin_info.hpp"

namespace backplane {

// A further check of each plugin of a file before sealing; throws PluginError. Runs in the process that loads the plugin.
using SealCheck = std::function<void(const PluginInfo&)>;

// Seals a plugin file with its parts (plugin/part.hpp). It loads the file in a child process, to turn a plugin's crash, exit or
// hang into an error. Sealing twice gives the same bytes. Throws PluginError.
void Seal(const std::filesystem::path& file, const SealCheck& check = nullptr,
          const std::vector<std::filesystem::path>& parts = {});

// The same in this process, which keeps the plugin loaded. Throws PluginError.
void SealInThisProcess(const std::filesystem::path& file, const SealCheck& check = nullptr,
                       const std::vector<std::filesystem::path>& parts = {});

}  // namespace backplane
