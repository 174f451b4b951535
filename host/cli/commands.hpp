// The commands of the program: what each is called, what it takes and what it does. They stand in one table, AllCommands, of
// which the command line, --help and the hints at mistyped words are made.
#pragma once

#include <vector>

#include "arguments/command.hpp"
#include "input/run_args.hpp"

namespace backplane {

// In the order of --help.
std::vector<Command> AllCommands();

int RunExperiment(const RunArgs& args);

}  // namespace backplane
