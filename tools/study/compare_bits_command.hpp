// `compare --bits`.
#pragma once

#include <filesystem>
#include <vector>

namespace backplane {

// Prints the result and returns an exit code. Each side is the folder of results, of a trial or of an attempt.
int CompareBitsCommand(const std::vector<std::filesystem::path>& subjects, bool json, bool quiet);

}  // namespace backplane
