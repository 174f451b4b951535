// A cell of a CSV file.
#pragma once

#include <string>

namespace backplane {

// RFC 4180: quotes a field with a comma, a quote or a line break, and doubles quotes within. Spreadsheets execute a text that
// starts with '=', '+', '-' or '@' and is not a number, so it gets a "'" prefix. So does a text that starts with "'" before one
// of these, so that backplane_rl.read_csv can remove one "'" and restore the text.
std::string CsvField(const std::string& text);

}  // namespace backplane
