// Finds the command or option that a typed word names.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace backplane {

// False for a number, "-" or a plain word.
bool IsOptionWord(const std::string& word);
// The option of "--lr=1", "-s" or "-sx=1". NULL: there is none, or the word is no option.
const CLI::Option* OptionCalled(const CLI::App& app, const std::string& word);
std::vector<const CLI::App*> CommandsBelow(const CLI::App& app);
const CLI::App* CommandCalled(const CLI::App& app, const std::string& name);  // NULL: there is none

}  // namespace backplane
