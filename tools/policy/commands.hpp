// The commands of backplane-policy.
#pragma once

#include "arguments/command.hpp"

namespace backplane {

Command EvaluateCommand();
Command InspectCommand();

}  // namespace backplane
