// A figure as data: what is drawn, not how. Two backends draw it: gnuplot_figure (PNG, with script and CSV beside it) and
// svg_figure (inline in the HTML report). Every text may hold anything a user can name a thing with.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace backplane {

enum class Scale { kLinear = 1, kLog2, kLog10 };

struct Axis {
  std::string label;  // with its unit
  Scale scale = Scale::kLinear;
  std::optional<double> low, high;      // absent: from the data, with a margin; y of a linear axis from 0 up
  std::vector<std::string> categories;  // x only: not empty, x is an index into these, from 0
};

struct Datum {
  double x = 0, y = 0;              // y NaN: there is none, and a line breaks here
  std::optional<double> low, high;  // a whisker
  std::string label;                // beside the mark; empty: none
};

struct Series {
  // kReference: dashed and grey, kLevel: dashed, kCurve: solid, all without marks. kParts: pieces of one bar, each from its
  // mark's low to its y. kHollow: as kPoints, only the outlines.
  enum class Style { kLine = 1, kPoints, kBars, kReference, kCurve, kParts, kLevel, kHollow };
  std::string title;  // in the key; empty: not there
  Style style = Style::kLine;
  size_t colour = 0;  // index into the Okabe-Ito colours, and into the marks' shapes; wraps
  std::vector<Datum> marks;
};

struct HorizontalBand {
  double low = 0, high = 0;
  std::string label;
};
struct HorizontalLine {
  double y = 0;
  std::string label;
};

struct TextTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  std::vector<size_t> emphasised;  // rows
  std::string note;                // below
};

enum class KeyPlace { kTopLeft = 1, kTopRight, kBottomLeft, kBottomRight };

struct Panel {
  std::string title;
  Axis x, y;
  std::vector<Series> series;
  std::vector<HorizontalBand> bands;
  std::vector<HorizontalLine> lines;
  KeyPlace key = KeyPlace::kTopLeft;
  std::optional<TextTable> table;  // then nothing but the table is drawn
  std::string note;                // stands in the middle where there is nothing to draw: "no GPU data"
};

struct Figure {
  std::string name;   // of its files, without extension
  std::string title;  // above all panels
  std::string alt;    // what it shows, in a sentence
  size_t columns = 1;
  int width = 1200, height = 800;  // pixels
  std::vector<Panel> panels;       // row by row
};

nlohmann::json ToJson(const Figure& figure);

}  // namespace backplane
