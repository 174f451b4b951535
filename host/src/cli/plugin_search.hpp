// The plugin path: --plugin-path, BACKPLANE_PLUGIN_PATH, plugin_path: of the file, then the installation's own folder.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "config/loader.hpp"
#include "plugin/catalog.hpp"

namespace backplane {

std::filesystem::path OwnProgram();       // the file this process runs
std::filesystem::path OwnPrefix();        // the installation, or build tree, in whose bin/ that lies
std::filesystem::path OwnPluginFolder();  // lib/backplane/plugins of it
std::filesystem::path OwnShare();         // share/backplane of it: presets/ and configs/

class PluginSearch {
 public:
  explicit PluginSearch(const std::vector<std::string>& from_command_line);

  // For config loading: adds the file's folders, then the installation's. The search must outlive what is returned.
  PluginLookup Lookup();
  // All folders, the installation's included.
  Catalog& All();
  const std::vector<std::filesystem::path>& folders() const { return folders_; }

 private:
  // A folder that two sources name is read once: else each of its plugins would be found twice.
  void Add(const std::filesystem::path& folder);

  Catalog catalog_;
  std::vector<std::filesystem::path> folders_;
  std::set<std::filesystem::path> seen_;
};

}  // namespace backplane
