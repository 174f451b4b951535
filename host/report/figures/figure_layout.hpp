// Where everything of a figure stands, in pixels from its top left corner: computed once, drawn by both backends. What does not
// fit is cut or left out here, and says so; nothing overlaps.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "figures/axis_frame.hpp"
#include "figures/figure.hpp"

namespace backplane {

struct Box {
  double left = 0, top = 0, right = 0, bottom = 0;
  double width() const { return right - left; }
  double height() const { return bottom - top; }
  bool Meets(const Box& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};

enum class Align { kLeft = 1, kCentre, kRight };

struct TextLayout {
  double x = 0, y = 0;  // y: the middle of its height
  std::string text;     // one line of valid UTF-8
  Align align = Align::kLeft;
  double size = 1;  // in em
  bool bold = false, muted = false;
  double angle = 0;  // degrees, counterclockwise
};

struct KeyEntry {
  size_t series = 0;
  std::string text;
};

struct KeyLayout {
  Box box;
  size_t rows = 0;  // filled column by column
  std::vector<KeyEntry> entries;
  std::string more;         // "and 3 more", as a last entry without a sample; empty: all are there
  double column_width = 0;  // pixels
};
inline constexpr double kKeyRow = 1.4;     // em
inline constexpr double kKeySample = 2.6;  // em: the sample and the space to its text

struct PanelLayout {
  Box plot;  // within the axes
  AxisFrame x, y;
  double tick_angle = 0;          // of the x axis
  bool empty = false;             // nothing to plot: no ticks
  std::vector<TextLayout> texts;  // all but ticks and key
  std::optional<KeyLayout> key;
  bool is_table = false;
  std::vector<Box> tints;  // behind emphasised rows of a table
  std::vector<Box> rules;  // lines of a table: height 0
};

struct FigureLayout {
  double em = 0;  // pixels
  std::vector<TextLayout> texts;
  std::vector<PanelLayout> panels;
};

FigureLayout LayOut(const Figure& figure);

// What both backends ask about a mark.
bool CanDraw(const PanelLayout& panel, const Datum& mark);  // it has a place on these axes' scales, in their range or not
bool CanDraw(const PanelLayout& panel, const Series& series);

// A bar's sides, as distances from its x on the x axis' scale: bars of several series stand beside each other, parts of one bar
// above each other.
struct BarSides {
  double left = 0, right = 0;
  double middle() const { return (left + right) / 2; }
};
BarSides SidesOf(const Panel& panel, const AxisFrame& x, size_t series);

// The colours in order (Okabe-Ito without the yellow, which white paper swallows), and how many shapes of marks there are:
// their numbers share no divisor, so that a pair comes again only after 42 series.
inline constexpr const char* kColours[] = {"#0072B2", "#D55E00", "#009E73", "#E69F00", "#56B4E9", "#CC79A7", "#333333"};
inline constexpr size_t kColourCount = 7;
inline constexpr size_t kShapeCount = 6;  // circle, square, triangle, diamond, triangle downwards, pentagon

}  // namespace backplane
