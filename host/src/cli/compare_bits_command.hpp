// `compare --bits`.
#pragma once

#include <filesystem>
#include <vector>

namespace backplane {

// Prints what it found; an exit code. Each side is a results folder, a trial's or an attempt's.
int CompareBitsCommand(const std::vector<std::filesystem::path>& subjects, bool json, bool quiet);

}  // namespace backplane
