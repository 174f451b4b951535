// The plugin path: --plugin-path, BACKPLANE_PLUGIN_PATH, plugin_path: of the file, then the installation's own folder.
#pragma once

#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "plugin/catalog.hpp"
#include "plugin/installation.hpp"

namespace backplane {

class PluginSearch {
 public:
  explicit PluginSearch(const std::vector<std::string>& from_command_line);

  // For config loading: adds the file's folders, then the installation's. The search must outlive the result.
  std::function<const PluginInfo*(uint32_t kind, const std::string& name, const std::vector<std::filesystem::path>& plugin_path,
                                  std::string* why_not)>
  Lookup();
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
