// A table in columns of plain text.
#pragma once

#include <string>

#include "report/document.hpp"

namespace backplane {

// Lines that end with a line feed, none wider than `width` columns. Columns of words are folded to make room; columns that
// still do not fit follow below, with the first column again. "*" stands before emphasised rows. Notes follow.
std::string FormatTextTable(const Table& table, size_t width);

}  // namespace backplane
