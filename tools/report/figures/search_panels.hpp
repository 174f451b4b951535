// The panels of a search. Rows have `name` ("number 23"), `state` (the palette's field), `settings` and `value`.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "figures/panels.hpp"

namespace backplane {

// Rows of kind "trial" are points at `x` and `place`: the value or, without one, a substitute position. Rows of kind "best"
// form a step line. `facts`: fields of trial rows with their tooltip labels.
struct TrialsPanel {
  PanelText text;
  PanelSize size = {375, 240};
  std::vector<std::pair<std::string, std::string>> facts;
};
nlohmann::json View(const TrialsPanel& panel, const Palette& palette);

// Lines over iterations: rows of kind "step" and, for the best trial, "best step"; "end" marks the end of a line.
struct StepsPanel {
  PanelText text;
  PanelSize size = {780, 280};
};
nlohmann::json View(const StepsPanel& panel, const Palette& palette);

// A line per trial through its values on vertical axes. Rows of kind "complete", "pruned" and "best" have `x` (axis number),
// `place` from 0 to 1, `axis`, its text, and `standing`: the share of complete trials that are at least as good.
struct ParallelAxis {
  std::string title;
  std::vector<std::pair<double, std::string>> ticks;  // place, word
};
struct ParallelPanel {
  PanelText text;
  PanelSize size = {780, 280};
  std::vector<ParallelAxis> axes;
};
// The view's name contains its minimum width, "least540_...". Narrower pages scroll.
nlohmann::json View(const ParallelPanel& panel);
nlohmann::json Emphasis();  // parameter of the figure: highlights the best all, half, quarter or tenth

}  // namespace backplane
