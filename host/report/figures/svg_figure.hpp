// Draws a figure as SVG text for the HTML report: no script, no font or file from outside, colours by CSS variables of the page
// (light and dark).
#pragma once

#include <string>

#include "figures/figure.hpp"

namespace backplane {

std::string DrawSvg(const Figure& figure);

}  // namespace backplane
