// The panels of a search. Rows have `name` ("number 23"), `state` (the palette's field), `settings` and `value`.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "figures/panels.hpp"

namespace backplane {

// Rows of kind "trial" are points at `x` and `place`, which is the value or, of one without any, where it is shown; those of
// kind "best" are a line of steps. `facts`: fields of the trials' rows, and what a tooltip calls them.
struct TrialsPanel {
  PanelText text;
  PanelSize size = {375, 240};
  std::vector<std::pair<std::string, std::string>> facts;
};
nlohmann::json View(const TrialsPanel& panel, const Palette& palette);

// Lines over iterations: rows of kind "step" and, of the best alone, "best step"; "end" is a point where a line ends.
struct StepsPanel {
  PanelText text;
  PanelSize size = {780, 280};
};
nlohmann::json View(const StepsPanel& panel, const Palette& palette);

// A line for each trial through its values on upright axes. Rows of kind "complete", "pruned" and "best" have `x`, the axis's
// number, `place` on it from 0 to 1, `axis` and `said`, and `standing`: which share of the complete trials is at least as good.
struct ParallelAxis {
  std::string title;
  std::vector<std::pair<double, std::string>> ticks;  // place, word
};
struct ParallelPanel {
  PanelText text;
  PanelSize size = {780, 280};
  std::vector<ParallelAxis> axes;
};
// Its name says the least width that its words take, "least540_...": where a page is narrower it scrolls.
nlohmann::json View(const ParallelPanel& panel);
nlohmann::json Emphasis();  // its figure's parameter: the best all, half, quarter or tenth

}  // namespace backplane
