// The commands of backplane-archive.
#pragma once

#include "arguments/command.hpp"

namespace backplane {

Command PackCommand();
Command UnpackCommand();
Command VerifyCommand();
Command GcCommand();

}  // namespace backplane
