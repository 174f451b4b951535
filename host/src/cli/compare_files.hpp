// Two experiment files as one with a `compare:`, whose arms they are.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "cli/commands.hpp"

namespace backplane {

struct ComparisonFile {
  std::filesystem::path file, out;  // the file that was written, beside the results folder that it is for
};

// What differs from the first file belongs to the other arms; their budgets must be equal. Absent after it was said what is
// wrong.
std::optional<ComparisonFile> WriteComparison(const std::vector<std::filesystem::path>& files, const RunArgs& run);

}  // namespace backplane
