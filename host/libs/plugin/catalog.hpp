// The available plugins: reads the metadata sections of the .so files on the plugin path, without loading any.
#pragma once

#include <deque>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "plugin/plugin_info.hpp"

namespace backplane {

// A file that looks like a plugin but cannot be used, with the reason.
struct Refusal {
  std::filesystem::path file;
  std::string reason;
};

enum class PluginMiss { kUnknown = 1, kAmbiguous, kUnusable };

// Returns true if the name of a plugin is a path: it ends in ".so" or contains '/'. "ALE/Breakout-v5" is an id of another
// library unless `file`, which it would name, exists.
bool IsPluginPath(const std::string& name, const std::filesystem::path& file);

class Catalog {
 public:
  // `adds`: the option or variable that adds a folder, for messages.
  explicit Catalog(std::string adds = "--plugin-path") : adds_(std::move(adds)) {}

  // Adds every *.so of a folder (not recursive, in name order); ignores a missing folder.
  void AddFolder(const std::filesystem::path& folder);
  void AddFile(const std::filesystem::path& file);

  // `name` is an id with or without its kind, an alias of the plugin, or a path to a file (IsPluginPath). NULL and an error,
  // with the nearest known names and the folders, if there is none, more than one, or it was rejected. A file that was only
  // named by its path is not found by its id. So a kept version can be used next to the installed one. The pointer is valid as
  // long as the catalog.
  const PluginInfo* Find(uint32_t kind, const std::string& name, std::string* why_not, PluginMiss* reason = nullptr);

  std::string Searched() const;  // "searched: /a, /b; --plugin-path adds a folder"
  // Returns true if several files have this plugin's id. Find then rejects the id and accepts the file.
  bool IsAmbiguous(const PluginInfo& info) const;

  const std::deque<PluginInfo>& plugins() const { return plugins_; }
  const std::vector<Refusal>& refusals() const { return refusals_; }

 private:
  struct Matched {
    std::vector<const PluginInfo*> found;
    std::vector<std::string> known;  // every name of the kind
  };
  // `file` is empty if the name is no path.
  Matched Matches(uint32_t kind, const std::string& name, const std::filesystem::path& file) const;

  std::string adds_;
  std::vector<std::filesystem::path> folders_;
  std::deque<PluginInfo> plugins_;
  std::vector<Refusal> refusals_;
  std::set<std::filesystem::path> named_alone_;
};

}  // namespace backplane
