// Validates file names that users choose for output.
#pragma once

#include <filesystem>
#include <string>

namespace backplane {

// True if a file can have that name in any folder and is visible in listings: non-empty valid UTF-8 without slashes,
// backslashes, control characters or a leading dot.
bool IsFileName(const std::string& text);

// Normalizes a typed folder, without dots and the trailing slash of shell completion: "./results/" becomes "results", so that a
// suffix makes the name of a sibling.
std::filesystem::path FolderName(const std::filesystem::path& typed);

}  // namespace backplane
