// The text of --help.
#pragma once

#include <cstddef>
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

// Columns of help: the width of the terminal within limits, or 80 without a terminal.
size_t HelpWidth();

// Formats a command or the whole program. No line is wider than the terminal, or than 80 columns if there is none.
std::shared_ptr<CLI::FormatterBase> HelpFormatter();

}  // namespace backplane
