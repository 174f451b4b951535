#pragma once

#include <string>

namespace backplane {

// RFC 4180: a field with a comma, a quote or a line break stands in quotes, quotes within are doubled.
std::string CsvField(const std::string& text);

}  // namespace backplane
