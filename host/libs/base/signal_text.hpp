// Signals in words.
#pragma once

#include <string>

namespace backplane {

std::string SignalText(int signal);  // "SIGSEGV", "signal 34"

}  // namespace backplane
