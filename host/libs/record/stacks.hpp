// Where the threads of a trial were when it crashed or hung: read from what they wrote down themselves (trial/crash.hpp).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace backplane {

// A line for each thread, and below it, indented, one for each call, the innermost first: function, source line and file.
// Functions that no library exports are named by addr2line, where that is installed. Empty: nothing was written down.
std::vector<std::string> ReadStacks(const std::filesystem::path& file);

// Returns the thread to show for a failure of `plugin`: one in its code, else one in any plugin, else the first. A thread
// inside a call goes before one that only has the plugin's name.
std::vector<std::string> StackOf(const std::vector<std::string>& stacks, const std::string& plugin);

}  // namespace backplane
