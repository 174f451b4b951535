// The argument FILE of commands: an experiment file, one with the other ending or of the installation, a folder of files, or
// results to resume.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "input/run_args.hpp"

namespace backplane {

// Turns `.yml` into `.yaml` or back if only that file exists, and `configs/quickstart.yaml` into the installation's if
// there is none here. Returns an error with the files of the folder if no file fits; empty: no error.
std::string FindExperimentFile(FileArgs* input, bool or_results);

bool IsResultsFolder(const std::filesystem::path& path);

// The command that made the results `args.input.file`, plus the present arguments. Absent, after an error was printed, if the
// folder does not contain it.
std::optional<RunArgs> CommandOf(RunArgs args);

}  // namespace backplane
