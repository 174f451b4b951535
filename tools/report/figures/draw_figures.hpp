// Draws the figures of a report by vl-convert, a Python wheel. One process draws all, so that a crash, a slow figure or a
// missing wheel only costs figures.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "figures/figure.hpp"

namespace backplane {

struct Drawings {
  std::map<std::string, std::string> svg;      // figure -> drawing
  std::map<std::string, std::string> missing;  // figure -> reason, as a sentence
  std::string javascript;                      // Vega's script, which makes a page interactive; empty: no figure was drawn
};

// Writes `folder`/figures/NAME.vl.json, NAME.svg and `folder`/NAME.png for each figure. If drawing fails, removes old pictures
// but keeps the new specification. Throws std::runtime_error if a write fails or a figure's name is no plain file name.
Drawings DrawFigures(const std::vector<Figure>& figures, const std::filesystem::path& folder);

// Only Vega's script: cached from earlier drawings here, else created now, which takes a second. Empty without the wheel.
std::string FigureScript();

}  // namespace backplane
