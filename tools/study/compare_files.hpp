// Merges experiment files into one with a `compare` section, in which each file is an arm.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/scratch_folder.hpp"
#include "input/run_args.hpp"

namespace backplane {

struct ArmFile {
  std::filesystem::path file;
  std::vector<std::string> set;  // values of this file to replace, as with --set
};

struct ComparisonFile {
  std::filesystem::path file, out;             // the file that was written, next to its results folder
  std::shared_ptr<const ScratchFolder> draft;  // a dry run's temporary location of `file`; NULL: none
};

// Values that differ from the first file belong to the other arms; budgets must be equal. Absent after an error was printed.
std::optional<ComparisonFile> WriteComparison(const std::vector<ArmFile>& files, const RunArgs& run);

}  // namespace backplane
