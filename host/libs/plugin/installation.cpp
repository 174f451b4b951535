#include "plugin/installation.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <sstream>

#include "base/shell_argument.hpp"

namespace backplane {

std::filesystem::path OwnProgram() {
  // Read once, early in main: after a new build the link names a deleted file, and starting trials would fail.
  static const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe");
  return program;
}

std::filesystem::path TrialProgram() { return OwnProgram().parent_path() / kTrialProgram; }

std::filesystem::path OwnPrefix() { return OwnProgram().parent_path().parent_path(); }

std::filesystem::path OwnShare() { return OwnPrefix() / "share/backplane"; }

std::filesystem::path OwnPluginFolder() { return OwnPrefix() / "lib/backplane/plugins"; }

bool IsBuildTree() { return std::filesystem::exists(OwnPrefix() / "CMakeCache.txt"); }

std::string InstallHint(const std::string& program) {
  return IsBuildTree()
             ? fmt::format("`cmake --build {} --target {}` builds it", ShellArgument(OwnPrefix().string()), program)
             : fmt::format("install Backplane's package again with pip or apt, or run `scripts/install --prefix {}` in a clone",
                           ShellArgument(OwnPrefix().string()));
}

std::vector<std::filesystem::path> FoldersOf(const char* variable) {
  std::vector<std::filesystem::path> folders;
  const char* value = std::getenv(variable);
  std::istringstream list(value != nullptr ? value : "");
  for (std::string folder; std::getline(list, folder, ':');) {
    if (!folder.empty()) folders.emplace_back(folder);
  }
  return folders;
}

}  // namespace backplane
