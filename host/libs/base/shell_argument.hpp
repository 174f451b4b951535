// One word of a command that a person is told to type.
#pragma once

#include <string>

namespace backplane {

// Quoted for a POSIX shell if it must be.
std::string ShellArgument(const std::string& text);

}  // namespace backplane
