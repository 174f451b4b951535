// run-trial: runs, checks or films trials in this process.
#pragma once

#include "arguments/command.hpp"

namespace backplane {

Command RunTrialCommand();

}  // namespace backplane
