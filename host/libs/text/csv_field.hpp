// A cell of a CSV file.
#pragma once

#include <string>

namespace backplane {

// RFC 4180: a field with a comma, a quote or a line break stands in quotes, quotes within are doubled. A spreadsheet executes
// a text that begins with '=', '+', '-' or '@' and is not a number: it gets a "'" in front. So does a text that begins with
// "'" before one of these, so that backplane.read_csv can remove one "'" and get the text back.
std::string CsvField(const std::string& text);

}  // namespace backplane
