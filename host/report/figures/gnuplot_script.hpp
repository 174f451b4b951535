// The text of the two files that gnuplot reads. For gnuplot_figure only.
#pragma once

#include <string>

#include "figures/figure.hpp"

namespace backplane {

// A row per mark, panel by panel and series by series: panel, series (both from 1), x, y, low, high, then the texts. What is
// not there is NaN: a line breaks at it, where gnuplot joins across an empty field.
std::string GnuplotCsv(const Figure& figure);

// Draws from ./NAME.csv to ./NAME.png: the leading ./ keeps gnuplot from taking a name for a pipe.
std::string GnuplotScript(const Figure& figure);

// `text` as a constant that gnuplot neither expands nor executes: in single quotes, those within doubled, on one line.
std::string GnuplotQuoted(const std::string& text);

}  // namespace backplane
