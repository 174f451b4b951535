// The commands of backplane-runs.
#pragma once

#include <vector>

#include "arguments/command.hpp"

namespace backplane {

Command ImportCommand();
std::vector<Command> ExportRunsCommands();  // with the group "export"

}  // namespace backplane
