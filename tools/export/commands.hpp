// The commands of backplane-export.
#pragma once

#include "arguments/command.hpp"

namespace backplane {

Command ExportPolicyCommand();
Command ImportPolicyCommand();

}  // namespace backplane
