// Tools: programs backplane-NAME in this program's own folder or on PATH, which `backplane NAME` runs.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "arguments/command.hpp"

namespace backplane {

// Returns our own folder, then the folders of PATH.
std::vector<std::filesystem::path> ToolFolders();

// Returns the first executable file backplane-NAME in the folders; empty if there is none or the name is not a tool's.
std::filesystem::path FindTool(const std::string& name, const std::vector<std::filesystem::path>& folders);

// Returns a command for each tool that has the name of none of `commands`, by name. with_about: with the line that the tool
// prints for --about, if it does so within a second.
std::vector<Command> ToolCommands(const std::vector<Command>& commands, bool with_about);

// Replaces this process by the tool that was typed. Returns the exit code if it could not be started, and nothing if no tool
// was typed. `program` is this one as it was typed.
std::optional<int> StartTool(const std::string& program, const std::vector<std::string>& words,
                             const std::vector<Command>& commands);

}  // namespace backplane
