// What may stand at the end of a command line: for the shells' completion, which asks `backplane complete WORD...`.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace backplane {

// Prints a line for each word that can stand in place of the last of `words`, "WORD\tHELP". One that ends with '/' or '=' goes
// on. Commands and options are those of `root`; what a value may be follows from what --help calls it.
void PrintCompletions(const CLI::App& root, const std::vector<std::string>& words);

// Of bash, zsh or fish: what makes it ask. Absent: no such shell.
const char* CompletionScript(const std::string& shell);

}  // namespace backplane
