// `run-trial` of a trial by command: starts the program instead of loading plugins, and writes the same record.
//
// The program runs in the attempt's folder, in a process group of its own. Its output passes through this process into the
// trial's logs. Its environment describes the trial (docs/trial-by-command.md). Its reports come through the descriptor in
// BACKPLANE_REPORT_FD, from patterns in its output, and from event files.
#pragma once

#include <filesystem>
#include <vector>

#include "contract/trial_spec.hpp"

namespace backplane {

// Returns the exit code (TrialExit, or 128 + signal) after the record is written and all processes of the command have ended.
// [main thread; the process does nothing else]
int RunCommandTrial(TrialSpec spec);

// `run-trial --check`: checks that the program and its script exist. Prints a TrialCheck for each to standard output. Returns
// the first failure's exit code. `specs` is not empty.
int CheckCommands(const std::vector<TrialSpec>& specs);

}  // namespace backplane
