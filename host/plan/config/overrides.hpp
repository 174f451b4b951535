// A value that replaces the file's value at a path: --set path=value, or one value of a sweep.
#pragma once

#include <string>
#include <vector>

#include "config/plugins.hpp"
#include "yaml/path_writer.hpp"

namespace backplane {

struct Override {
  std::string path;
  Mark mark;         // of the path; the source is the whole text
  bool add = false;  // "+path=value" also writes an unknown key; it is checked like the file
  Node value;
  bool replaces = false;  // an assignment before it may have the same path: it is this one's then
  bool yields = false;    // --set of the same path, or of a mapping around it, counts instead
};

std::vector<Override> ParseOverrides(const std::vector<std::string>& set, Errors* errors);

// Such overrides come first: they decide which option tables the others are checked against.
bool ChoosesPlugins(const Override& override);

// The path that `path` is another name of, else itself.
std::string TargetPath(const std::string& path, const std::vector<PluginSlot>& slots);

// Returns the path it wrote at: another than its own if that is an alias.
std::string ApplyOverride(const Override& override, const std::vector<PluginSlot>& slots, PathWriter* tree, Errors* errors);
std::string ApplyOverride(const Override& override, const std::vector<PluginSlot>& slots, Node* root, Errors* errors);

}  // namespace backplane
