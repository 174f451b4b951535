// Draws the figures of a report by vl-convert, a Python wheel: one process for all of them, so that a crash, a slow figure or a
// missing wheel costs figures and nothing else.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "figures/figure.hpp"

namespace backplane {

struct Drawings {
  std::map<std::string, std::string> svg;      // of each figure that was drawn, by its name
  std::map<std::string, std::string> missing;  // figure -> reason, as a sentence
  std::string javascript;                      // Vega's script, which makes a page interactive; empty: no figure was drawn
};

// Writes `folder`/figures/NAME.vl.json, NAME.svg and `folder`/NAME.png for each figure. If drawing fails, removes old pictures
// but keeps the new specification. Throws std::runtime_error if a write fails or a figure's name is no plain file name.
Drawings DrawFigures(const std::vector<Figure>& figures, const std::filesystem::path& folder);

// Vega's script alone, as it was kept when figures were drawn here before; else it is made now, which takes a second. Empty
// without the wheel.
std::string FigureScript();

}  // namespace backplane
