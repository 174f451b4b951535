// `run --plan`: runs one part of a study.
#pragma once

#include "cli/commands.hpp"
#include "record/planned_run.hpp"

namespace backplane {

// Returns an exit code. Prints results only if some trials could not be run. `args` holds the other typed arguments.
int RunPlanned(const PlannedRun& planned, const RunArgs& args);

// The same for the file args.input.file.
int RunPlan(const RunArgs& args);

}  // namespace backplane
