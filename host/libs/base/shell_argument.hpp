// A word of a command that is printed for pasting.
#pragma once

#include <string>

namespace backplane {

// Quotes the word for a POSIX shell if necessary.
std::string ShellArgument(const std::string& text);

}  // namespace backplane
