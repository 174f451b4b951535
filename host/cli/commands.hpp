// The commands of the program with their names, arguments and actions. The command line, --help and the hints for mistyped
// words all use one table, AllCommands.
#pragma once

#include <vector>

#include "arguments/command.hpp"
#include "input/run_args.hpp"

namespace backplane {

// In the order of --help.
std::vector<Command> AllCommands();

int RunExperiment(const RunArgs& args);

}  // namespace backplane
