// The commands of backplane-author.
#pragma once

#include "arguments/command.hpp"

namespace backplane {

Command NewCommand();
Command SdkCommand();
Command SetupTorchCommand();

}  // namespace backplane
