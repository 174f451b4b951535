// Anchors that the charts of all panels share. For panels' sources only.
#pragma once

#include "figures/chart.hpp"
#include "figures/panels.hpp"

namespace backplane {

using nlohmann::json;

// A click on a legend picks series, and the others fade. Labels on an axis, or a single name, need no legend: then `pick` has
// no value.
Anchors SharedAnchors(const PanelText& text, const PanelSize& size, const Palette& palette, bool names_on_axis = false);

}  // namespace backplane
