// A number for people, in its two parts: HTML sets the second one apart.
#pragma once

#include <string>

#include "text/number.hpp"

namespace backplane {

struct FormattedNumber {
  std::string value;
  std::string interval;  // "± 213", or "(0.67 to 6.0)" of one that is far from even; empty: there is none
};

// `digits` significant ones, but no digit before the point is ever rounded away below 1e9: an exact count stays exact. Zeros at
// the end stand where a number was rounded to ("80.0"), not where it is that short ("0.003"). Thousands are set apart by
// commas, whatever the locale. What is not finite is "NaN".
FormattedNumber FormatParts(const Number& number, int digits);

// "9,562 ± 213": both parts.
std::string FormatNumber(const Number& number, int digits);

}  // namespace backplane
