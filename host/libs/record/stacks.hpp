// Reads the stacks that a trial's threads dumped when it crashed or hung (trial/crash.hpp).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace backplane {

// One line per thread, then one indented line per call, innermost first: function, source line and file. addr2line, if
// installed, resolves functions that are not exported. Empty if there is no dump.
std::vector<std::string> ReadStacks(const std::filesystem::path& file);

// Returns the thread to show for a failure of `plugin`: one in its code, else one in any plugin, else the first. Threads inside
// a call take precedence over threads that only bear the plugin's name.
std::vector<std::string> StackOf(const std::vector<std::string>& stacks, const std::string& plugin);

}  // namespace backplane
