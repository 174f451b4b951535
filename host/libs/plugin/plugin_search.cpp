#include "plugin/plugin_search.hpp"

namespace backplane {

PluginSearch::PluginSearch(const std::vector<std::string>& from_command_line) {
  for (const std::string& folder : from_command_line) {
    Add(folder);
  }
  for (const std::filesystem::path& folder : FoldersOf("BACKPLANE_PLUGIN_PATH")) Add(folder);
}

std::function<const PluginInfo*(uint32_t, const std::string&, const std::vector<std::filesystem::path>&, std::string*)>
PluginSearch::Lookup() {
  return [this](uint32_t kind, const std::string& name, const std::vector<std::filesystem::path>& plugin_path,
                std::string* why_not) {
    for (const std::filesystem::path& folder : plugin_path) {
      Add(folder);
    }
    return All().Find(kind, name, why_not);
  };
}

Catalog& PluginSearch::All() {
  Add(OwnPluginFolder());
  return catalog_;
}

void PluginSearch::Add(const std::filesystem::path& folder) {
  std::error_code error;  // a loop of links is not a folder, and has no plugins
  std::filesystem::path absolute = std::filesystem::weakly_canonical(folder, error);
  if (error) absolute = std::filesystem::absolute(folder).lexically_normal();
  if (seen_.insert(absolute).second) {
    folders_.push_back(absolute);
    catalog_.AddFolder(absolute);
  }
}

}  // namespace backplane
