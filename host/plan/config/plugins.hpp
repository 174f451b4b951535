// The plugins an experiment names, looked up: from here on their option tables are known.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "backplane/ext/wrapper.h"
#include "config/plugin_tables.hpp"
#include "yaml/document.hpp"
#include "yaml/errors.hpp"

namespace backplane {

// A place in the file that names a plugin: "env", "learner", "monitors.0", "env.wrappers.0".
struct PluginSlot {
  uint32_t kind = 0;
  std::string path;
  std::shared_ptr<const OptionTable> table;  // NULL: not found, with an error
  std::filesystem::path folder = {};         // of the file in which a command stands (config/command.hpp)
  std::string options_path() const { return path + ".options"; }
  bool is_wrapper() const { return path.starts_with("env.wrappers."); }
  bool in_list() const { return kind == BP_KIND_MONITOR || is_wrapper(); }
};

// Writes each monitor and wrapper as a mapping and each plugin's path as an absolute one, then looks the plugins up. A trial by
// command has a slot for its learner and one for the env, set or not; it has no monitors and no wrappers.
std::vector<PluginSlot> ResolvePlugins(Node* root, PluginTables* tables, Errors* errors);

// Writes the value of a wrapper, as in {NAME: value}, to the first option of its table. [for embedding, too]
void NameWrapperValue(const PluginInfo& wrapper, Node* item);
// {NAME: value} as a mapping of a plugin with its value, which NameWrapperValue names. Adds an error for any other form.
void ReadWrapper(Node* item, Errors* errors);

// The slot whose options stand under `options_path`. The evaluation's environment is the experiment's.
const PluginSlot* FindSlot(const std::vector<PluginSlot>& slots, const std::string& options_path);

}  // namespace backplane
