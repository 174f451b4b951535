// The metadata section of a plugin file: its plugins and facts of its build, as JSON, readable without loading the file.
//
//   {"bp_meta": 1, "abi": [major, minor, min_minor], "plugins": [{kind, id, version, summary, license, flags, needs, params}],
//    "build": {compiler, cxx11abi, torch, mujoco, sanitizer, debug}, "parts": [{name, file, sha256}]}
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "backplane/module.h"
#include "plugin/plugin_info.hpp"

namespace backplane {

inline constexpr int kMetadataFormat = 1;

// The section's text for a loaded module. Throws PluginError if the module describes itself in a way that cannot be used.
std::string MetadataOf(const bp_module& module, const std::vector<PartInfo>& parts = {});

// Parses the plugins in `text` and sets their `file`. Throws PluginError.
std::vector<PluginInfo> ParseMetadata(const std::string& text, const std::filesystem::path& file);

// The plugins of a file that this host could load. Throws PluginError, with a separate message for each cause: not an ELF
// file, a different machine, no or a different entry point, unsealed, damaged metadata, a different ABI or build, unknown
// needs. Only the trial process knows its LibTorch, so LoadedModule checks that.
std::vector<PluginInfo> ReadPlugins(const std::filesystem::path& file);

}  // namespace backplane
