// The places of this installation, or build tree, and lists of folders.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace backplane {

std::filesystem::path OwnProgram();  // the file this process runs
inline constexpr char kTrialProgram[] = "backplane-trial";
std::filesystem::path TrialProgram();     // in the folder of this program
std::filesystem::path OwnPrefix();        // the installation or build tree with that bin/
std::filesystem::path OwnPluginFolder();  // its lib/backplane/plugins
std::filesystem::path OwnShare();         // its share/backplane: presets/, configs/ and templates/

bool IsBuildTree();  // the prefix is a build tree, no installation
// How to get a program that is missing next to this one: "`COMMAND` builds it", or another installation.
std::string InstallHint(const std::string& program);

// The folders of an environment variable such as PATH, without the empty ones.
std::vector<std::filesystem::path> FoldersOf(const char* variable);

}  // namespace backplane
