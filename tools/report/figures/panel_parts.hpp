// Anchors shared by the charts of all panels. Only for the panels' sources.
#pragma once

#include "figures/chart.hpp"
#include "figures/panels.hpp"

namespace backplane {

using nlohmann::json;

// Clicking a legend entry picks a series and fades the others. Panels with axis labels or a single name need no legend; `pick`
// then has no value.
Anchors SharedAnchors(const PanelText& text, const PanelSize& size, const Palette& palette, bool names_on_axis = false);

}  // namespace backplane
