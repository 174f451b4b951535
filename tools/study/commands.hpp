// The commands of backplane-study.
#pragma once

#include <vector>

#include "arguments/command.hpp"

namespace backplane {

std::vector<Command> BenchCommands();
std::vector<Command> TuneCommands();
std::vector<Command> CompareCommands();
std::vector<Command> GateCommands();

// All commands, in the order of --help.
std::vector<Command> StudyCommands();

}  // namespace backplane
