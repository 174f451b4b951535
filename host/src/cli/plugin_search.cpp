#include "cli/plugin_search.hpp"

#include <cstdlib>
#include <sstream>

namespace backplane {

std::filesystem::path OwnProgram() {
  // Read once, as main begins: after a new build the link names a deleted file, and no trial could be started any more.
  static const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe");
  return program;
}

std::filesystem::path OwnPrefix() { return OwnProgram().parent_path().parent_path(); }

std::filesystem::path OwnShare() { return OwnPrefix() / "share/backplane"; }

std::filesystem::path OwnPluginFolder() { return OwnPrefix() / "lib/backplane/plugins"; }

PluginSearch::PluginSearch(const std::vector<std::string>& from_command_line) {
  for (const std::string& folder : from_command_line) {
    Add(folder);
  }
  const char* variable = std::getenv("BACKPLANE_PLUGIN_PATH");
  std::istringstream list(variable != nullptr ? variable : "");
  for (std::string folder; std::getline(list, folder, ':');) {
    if (!folder.empty()) {
      Add(folder);
    }
  }
}

PluginLookup PluginSearch::Lookup() {
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
  std::error_code error;  // a loop of links: it is no folder, and nothing is found in it
  std::filesystem::path absolute = std::filesystem::weakly_canonical(folder, error);
  if (error) absolute = std::filesystem::absolute(folder).lexically_normal();
  if (seen_.insert(absolute).second) {
    folders_.push_back(absolute);
    catalog_.AddFolder(absolute);
  }
}

}  // namespace backplane
