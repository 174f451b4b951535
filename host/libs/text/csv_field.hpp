// A cell of a CSV file.
#pragma once

#include <string>

namespace backplane {

// RFC 4180: a field with a comma, a quote or a line break stands in quotes, quotes within are doubled. A text that begins with
// '=', '+', '-' or '@' and is not a number gets a "'" in front, because a spreadsheet would execute it as a formula. So does a
// text that begins with "'" before one of these: a reader that removes one "'" gets the text back (backplane.read_csv).
std::string CsvField(const std::string& text);

}  // namespace backplane
