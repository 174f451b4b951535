// The commands of backplane-runs.
#pragma once

#include "arguments/command.hpp"

namespace backplane {

Command ImportCommand();

}  // namespace backplane
