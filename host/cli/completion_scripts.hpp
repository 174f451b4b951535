// The scripts that make a shell ask for completions.
#pragma once

#include <string>

namespace backplane {

// For bash, zsh or fish. Absent: the shell is unknown.
const char* CompletionScript(const std::string& shell);

}  // namespace backplane
