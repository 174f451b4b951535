// Formats a number in two parts, because HTML styles the second differently.
#pragma once

#include <string>

#include "text/number.hpp"

namespace backplane {

struct FormattedNumber {
  std::string value;
  std::string interval;  // "± 213", or "(0.67 to 6.0)" if it is asymmetric; empty: none
};

// Formats `digits` significant digits, but never rounds digits before the point below 1e9: counts stay exact. Trailing zeros
// indicate rounding ("80.0"); a short number has none ("0.003"). Thousands are separated by commas in every locale. Values that
// are not finite are "NaN".
FormattedNumber FormatParts(const Number& number, int digits);

// "9,562 ± 213": both parts.
std::string FormatNumber(const Number& number, int digits);

}  // namespace backplane
