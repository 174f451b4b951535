// A table of results on the terminal.
#pragma once

#include <string>

#include "text/table.hpp"

namespace backplane {

// Cuts to that many columns and a readable number of rows. `colour`: colours states.
std::string ScreenText(Table table, size_t width, bool colour);

}  // namespace backplane
