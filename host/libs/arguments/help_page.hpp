// The text of --help.
#pragma once

#include <memory>
#include <string>

namespace CLI {
class App;
class FormatterBase;
class Option;
}  // namespace CLI

namespace backplane {

// The value's type as a person types it: "WHEN" of "WHEN:{auto,always,never}". Empty for a flag.
std::string ShownType(const CLI::Option& option);

// Formats a command or the whole program. No line is wider than the terminal, or than 80 columns if there is none.
std::shared_ptr<CLI::FormatterBase> HelpFormatter();

}  // namespace backplane
