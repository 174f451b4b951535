// Runs parts of a study by `backplane run --plan`.
#pragma once

#include <filesystem>

#include "input/run_args.hpp"
#include "record/planned_run.hpp"

namespace backplane {

// Returns the exit code. The results of `planned` go to the terminal, or to `output`. Uses fresh, dry_run, json, quiet,
// skip_invalid, jobs and same of `run`.
int RunPlanned(const PlannedRun& planned, const RunArgs& run, const std::filesystem::path& output = {});

}  // namespace backplane
