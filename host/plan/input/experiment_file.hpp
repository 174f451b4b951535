// What stands where a command wants an experiment file: the file, one with the other ending or of the installation, a folder of
// files, or results to go on with.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "input/run_args.hpp"

namespace backplane {

// Turns `.yml` into `.yaml` or back where only that file exists, and `configs/quickstart.yaml` into the installation's where
// none is here. A sentence for the user where no file can be meant, with those that lie in the folder; empty: go on.
std::string FindExperimentFile(FileArgs* input, bool or_results);

bool IsResultsFolder(const std::filesystem::path& path);

// The command that made the results `args.input.file`, with what was typed now added to it. Absent, after it was
// said why, if the folder does not tell.
std::optional<RunArgs> CommandOf(RunArgs args);

}  // namespace backplane
