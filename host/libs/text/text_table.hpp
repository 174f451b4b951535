// A table in columns of plain text.
#pragma once

#include <string>

#include "text/table.hpp"

namespace backplane {

// Lines that end with a line feed, none wider than `width` columns. If the table is too wide, the first column is folded and
// columns of sentences follow below, row by row; columns that still do not fit follow with the first one repeated. "*" marks
// emphasised rows. Notes come last.
std::string FormatTextTable(const Table& table, size_t width);

// For a screen, without splitting: if the table is too wide, the last columns are left out and named in a note.
std::string FormatScreenTable(Table table, size_t width);

}  // namespace backplane
