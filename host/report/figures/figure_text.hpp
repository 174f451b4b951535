// Text as figures need it: on one line, measured, cut to a width. Widths are those of DejaVu Sans, which gnuplot draws with; a
// page's own font is seldom wider.
#pragma once

#include <string>
#include <vector>

#include "text/utf8.hpp"

namespace backplane {

// On one line (OneLine), as content or attribute of an XML element.
std::string XmlText(const std::string& text);

// In em (the font's size).
double TextWidth(const std::string& text);

// At most `width` em: what is too long loses its middle ("a_long_…_name"), since names differ at both ends.
std::string Shorten(const std::string& text, double width);

// Names that stand beside each other, each at most `width` em. Where one is too long, the words that all have in the same place
// go first: "lr=0.1 seed=2" becomes "…0.1…2".
std::vector<std::string> ShortenNames(const std::vector<std::string>& names, double width);

// What DejaVu Sans has no glyph for becomes a square: without a font that has one, Cairo covers the picture with a huge box.
std::string DejaVuText(const std::string& text);

// Shortest form that reads back as the same number, in every locale; "NaN" for what is not finite.
std::string PlainNumber(double value);

// "1,250.5": with that many decimals, thousands separated.
std::string GroupedNumber(double value, int decimals);

}  // namespace backplane
