// Parses the command line and calls one command.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "arguments/command.hpp"
#include "arguments/complete.hpp"
#include "arguments/mistake.hpp"

namespace backplane {

// The functions may be empty.
struct CommandLine {
  std::string program;             // as typed
  std::vector<std::string> words;  // TypedWords
  std::string about, version;
  std::vector<Command> commands;                        // in the order of --help
  std::function<std::vector<Command>()> more_commands;  // called only if none of `commands` was typed
  Meanings meant;
  ValueOffers values;
  int usage_code = kUsage;  // exit code of a wrong command line
};

// The arguments, with `help COMMAND` as an option.
std::vector<std::string> TypedWords(int argc, char** argv);

// The path of `backplane` as the user typed it, for printed commands. A tool that was started directly is next to it.
std::string TypedHost(int argc, char** argv);

// "config" of "config check".
std::string FirstWord(const std::string& name);

// Returns the exit code of the program.
int RunCommandLine(const CommandLine& line);

}  // namespace backplane
