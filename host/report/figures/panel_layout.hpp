// The parts of a panel's layout that have rules of their own. For figure_layout only.
#pragma once

#include "figures/figure_layout.hpp"

namespace backplane {

// Pixels of a point that the axes can show.
inline double XOf(const PanelLayout& panel, double x) { return panel.plot.left + panel.x.At(x) * panel.plot.width(); }
inline double YOf(const PanelLayout& panel, double y) { return panel.plot.bottom - panel.y.At(y) * panel.plot.height(); }

// Where data is drawn: marks, whiskers, bars and points along the lines.
std::vector<Box> Obstacles(const Panel& panel, const PanelLayout& layout, double em);

// Puts the key into the corner that is asked for, or the first free one; where none is, above the plot, whose top moves down.
// Call before anything depends on the plot's top.
void PlaceKey(const Panel& panel, double em, PanelLayout* layout);

// The marks' labels, each at the first free place around its mark. Returns how many found none.
size_t PlaceMarkLabels(const Panel& panel, double em, PanelLayout* layout);

// The labels of bands and lines, right of the plot, moved apart where they would touch.
void PlaceSideLabels(const Panel& panel, double em, double width, PanelLayout* layout);

// The whole table within `box`: letters shrink to two thirds, then columns are cut, then rows are left out.
void PlaceTable(const TextTable& table, const Box& box, double em, PanelLayout* layout);

}  // namespace backplane
