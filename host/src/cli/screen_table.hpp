// A table of results on the terminal.
#pragma once

#include <string>

#include "render/document.hpp"

namespace backplane {

// Cut to the terminal's width and to a number of rows that can be looked through. Where stdout is no terminal no column is left
// out.
std::string ScreenText(Table table);

}  // namespace backplane
