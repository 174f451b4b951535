// `run-trial` of a trial by command: starts the program in the place of loading plugins, and writes the same record.
//
// The program runs in the attempt's folder, in a process group of its own. What it prints goes through this process to where
// that of a trial goes. It is told by its environment (docs/trial-by-command.md); its reports come by the descriptor in
// BACKPLANE_REPORT_FD, by patterns over what it prints, and by event files.
#pragma once

#include <filesystem>
#include <vector>

#include "contract/trial_spec.hpp"

namespace backplane {

// Returns the exit code (TrialExit, or 128 and a signal's number); the record is written. Nothing that the command started runs
// any more. [main thread; the process does nothing else]
int RunCommandTrial(TrialSpec spec);

// `run-trial --check`: whether there is such a program, and the script that it is given. Prints a TrialCheck for each to
// standard output. Returns the first failure's exit code. `specs` is not empty.
int CheckCommands(const std::vector<TrialSpec>& specs);

}  // namespace backplane
