// The plugins an experiment names, looked up: from here on their option tables are known.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "config/plugin_tables.hpp"
#include "yaml/document.hpp"
#include "yaml/errors.hpp"

namespace backplane {

// A place in the file that names a plugin: "env", "learner", "monitors.0".
struct PluginSlot {
  uint32_t kind = 0;
  std::string path;
  std::shared_ptr<const OptionTable> table;  // NULL: not found, with an error
  std::filesystem::path folder = {};         // of the file in which a command stands (config/command.hpp)
  std::string options_path() const { return path + ".options"; }
};

// Writes each monitor as a mapping and each plugin's path as an absolute one, then looks the plugins up. A trial by
// command has a slot for its learner and one for the env, set or not; it has no monitors.
std::vector<PluginSlot> ResolvePlugins(Node* root, PluginTables* tables, Errors* errors);

// The slot whose options stand under `options_path`. The evaluation's environment is the experiment's.
const PluginSlot* FindSlot(const std::vector<PluginSlot>& slots, const std::string& options_path);

}  // namespace backplane
