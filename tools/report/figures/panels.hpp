// The kinds of panels. Each is a Vega-Lite view of the rows of its figure whose `panel` is the panel's title. `kind` of a row
// is "mean", or "one" for a single value (seed, iteration), which is drawn small; other kinds are listed below. Rows have
// `name` (of a point or setting), the fields of PutNumber, `trials`, and for "one" also `of` ("seed 3", "iteration 7").
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "figures/palette.hpp"

namespace backplane {

struct PanelText {
  std::string title;       // unique in its figure
  std::string x, y;        // of the axes, with their units
  std::string thing = {};  // what `name` names, in tooltips: "setting"
};

// Pixels. In panels with named rows, `height` is per row.
struct PanelSize {
  double width = 235, height = 190;
};

struct BandLabel {
  double low = 0, high = 0;
  std::string label;
};
struct LineLabel {
  double at = 0;
  std::string label;
};

// Means with intervals over `x`, an axis of doublings, joined by lines. Rows of kind "ideal" form a dashed line.
struct SweepPanel {
  PanelText text;
  PanelSize size = {};
  std::vector<double> ticks;  // of x
  bool log_y = false;
  std::optional<double> y_low, y_high;
  std::vector<BandLabel> bands;  // shaded, named right of the plot
  std::vector<LineLabel> lines;  // horizontal
};
nlohmann::json View(const SweepPanel& panel, const Palette& palette);

// A bar per name. `max` of a row is a tick beyond its end.
struct BarPanel {
  PanelText text;  // x: of the values
  PanelSize size = {380, 24};
  std::vector<std::string> names;
  std::optional<double> x_high;
  std::vector<LineLabel> lines;  // vertical
};
nlohmann::json View(const BarPanel& panel, const Palette& palette);

// Ratios or differences with intervals, in rows, and a line at the baseline.
struct RatioPanel {
  PanelText text;
  PanelSize size = {380, 24};
  std::vector<std::string> names;
  double baseline = 1;
};
nlohmann::json View(const RatioPanel& panel, const Palette& palette);

// Parts of 100 % bars, by `part`. `order` of a row is its position.
struct SharePanel {
  PanelText text;
  PanelSize size = {600, 24};
  std::vector<std::string> names;
};
nlohmann::json View(const SharePanel& panel, const Palette& palette);

// Shares of 100 % over time, as stacked areas. Rows of kind "stretch" reach from `x` to `x2` and have a field per name of the
// palette. A last row of kind "end" repeats the values at the end of the time.
struct StackPanel {
  PanelText text;
  PanelSize size = {375, 170};
};
nlohmann::json View(const StackPanel& panel, const Palette& palette);

// Points with intervals. Rows of kind "hollow" belong to a second measure.
struct ScatterPanel {
  PanelText text;
  PanelSize size = {720, 380};
};
nlohmann::json View(const ScatterPanel& panel, const Palette& palette);

// Speed against another value. Rows of kind "front" with the same `of` form a line.
struct TradeOffPanel {
  PanelText text;
  PanelSize size = {};
};
nlohmann::json View(const TradeOffPanel& panel, const Palette& palette);

// Curves with bands, thin curves for single trials, levels ("level": a horizontal line) and spots ("spot": a value without
// width). The reader can zoom and smooth all curves of a figure (Smoothing).
inline constexpr size_t kMostThinLines = 3;  // seeds of a curve without a band; with few seeds, their own curves show more
inline constexpr size_t kMostFilled = 4;     // curves with bands per panel: more would hide each other
struct CurvePanel {
  PanelText text;
  PanelSize size = {375, 240};
  std::optional<Palette> dashes = {};  // if they mark something else than the colours
  bool smooths = true;                 // false: not over time; the figure then has no smoothing
};
nlohmann::json View(const CurvePanel& panel, const Palette& palette);
nlohmann::json Smoothing();

// Names side by side. A line joins the values of one seed (`of`); the mean and its interval stand next to them.
struct PairPanel {
  PanelText text;
  PanelSize size = {420, 260};
  std::vector<std::string> names;
};
nlohmann::json View(const PairPanel& panel, const Palette& palette);

// A table as a picture, only for readers of the PNG: pages omit it.
struct TablePanel {
  std::string title;
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  std::vector<size_t> emphasised;  // rows
  std::vector<std::string> notes;  // below
  size_t most = 24;                // rows; emphasised ones stay
};
nlohmann::json View(const TablePanel& panel);

}  // namespace backplane
