// A table of results on the terminal.
#pragma once

#include <string>

#include "text/table.hpp"

namespace backplane {

// Cut to that many columns and to a number of rows that can be looked through; `colour`: states have theirs.
std::string ScreenText(Table table, size_t width, bool colour);

}  // namespace backplane
