// Names that people give to files which the host then writes.
#pragma once

#include <filesystem>
#include <string>

namespace backplane {

// Whether a file can have that name in any folder, and every listing shows it: valid UTF-8 that is not empty, without slashes,
// backslashes and control characters, and not hidden by a leading dot.
bool IsFileName(const std::string& text);

// A folder as it was typed, without dots and the slash that a shell's completion leaves: "./results/" is "results", so that
// names beside it can be made by adding to it.
std::filesystem::path FolderName(const std::filesystem::path& typed);

}  // namespace backplane
