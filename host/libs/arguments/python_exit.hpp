// The end of a command whose work a Python program does.
#pragma once

#include <string>

#include "base/run_process.hpp"

namespace backplane {

// The exit code of a Python program that showed its own output. If it did not start, reports this under the command's name.
int ExitOfPython(const std::string& command, const ProcessCall& call, const ProcessEnd& end);

}  // namespace backplane
