#include "figures/gnuplot_script.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>

#include "figures/figure_layout.hpp"
#include "figures/figure_text.hpp"

namespace backplane {
namespace {

constexpr double kPointsPerPixel = 0.75;  // pngcairo's fonts are in points of 96 to the inch
constexpr std::array<int, kShapeCount> kPointTypes = {7, 5, 9, 13, 11, 15};
constexpr std::array<int, kShapeCount> kHollowTypes = {6, 4, 8, 12, 10, 14};
constexpr std::array<const char*, 3> kGnuplotDashes = {"(20,12)", "(6,10)", "(28,10,6,10)"};
constexpr const char* kFontFamily = "DejaVu Sans";

std::string CsvText(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : OneLine(text)) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

// What is drawn, not what names a file.
std::string QuotedText(const std::string& text) { return GnuplotQuoted(DejaVuText(text)); }

class Script {
 public:
  explicit Script(const Figure& figure) : figure_(figure), layout_(LayOut(figure)) {}

  std::string Write() {
    Line(
        "# Drawn from the CSV of the same name. `gnuplot` with this file as its argument, in this folder, draws the PNG "
        "again.");
    Line("reset");
    Line("set encoding utf8");
    Line("set terminal pngcairo noenhanced size {},{} font '{},{}' background '#ffffff'", figure_.width, figure_.height,
         kFontFamily, Number(layout_.em * kPointsPerPixel));
    Line("set output {}", GnuplotQuoted("./" + figure_.name + ".png"));
    Line("set datafile separator comma columnheaders");
    Line("set datafile commentschars ''");
    Line("set multiplot");
    Line("data = {}", GnuplotQuoted("./" + figure_.name + ".csv"));
    size_t row = 0;
    for (size_t i = 0; i < figure_.panels.size(); ++i) {
      Line("\n# panel {}", i + 1);
      Line(
          "unset label; unset arrow; unset object; unset logscale; unset xtics; unset ytics; unset key; unset grid; unset "
          "border");
      if (i == 0) WriteTexts(layout_.texts);
      WritePanel(figure_.panels[i], layout_.panels[i], &row);
    }
    if (figure_.panels.empty()) {
      WriteTexts(layout_.texts);
      WriteNothing();
    }
    Line("\nunset multiplot");
    Line("unset output");
    return text_;
  }

 private:
  template <class... Args>
  void Line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }

  static std::string Number(double value) { return PlainNumber(value); }
  std::string ScreenX(double x) const { return fmt::format("{:.5f}", x / figure_.width); }
  std::string ScreenY(double y) const { return fmt::format("{:.5f}", 1 - y / figure_.height); }
  std::string At(double x, double y) const { return fmt::format("screen {}, screen {}", ScreenX(x), ScreenY(y)); }

  void WriteTexts(const std::vector<TextLayout>& texts) {
    for (const TextLayout& text : texts) {
      if (text.text.empty()) continue;
      const char* align = text.align == Align::kLeft ? "left" : text.align == Align::kCentre ? "center" : "right";
      Line("set label {} at {} {} font '{}{},{}'{}{} front", QuotedText(text.text), At(text.x, text.y), align, kFontFamily,
           text.bold ? ":Bold" : "", Number(layout_.em * text.size * kPointsPerPixel),
           text.angle == 0 ? "" : fmt::format(" rotate by {}", Number(text.angle)), text.muted ? " textcolor '#555555'" : "");
    }
  }

  void WriteNothing() {
    Line("set xrange [0:1]; set yrange [0:1]");
    Line("plot NaN notitle");
  }

  void WritePanel(const Panel& panel, const PanelLayout& layout, size_t* row) {
    WriteTexts(layout.texts);
    if (layout.is_table) {
      for (const Box& tint : layout.tints) {
        Line("set object rectangle from {} to {} behind fillcolor '#e6f0f7' fillstyle solid noborder", At(tint.left, tint.top),
             At(tint.right, tint.bottom));
      }
      for (const Box& rule : layout.rules) {
        Line("set arrow from {} to {} nohead linewidth 1.2 linecolor '#444444'", At(rule.left, rule.top),
             At(rule.right, rule.bottom));
      }
      WriteNothing();
    } else {
      WriteAxes(layout);
      WriteBandsAndLines(panel, layout);
      WriteKey(layout);
      WritePlot(panel, layout, *row);
    }
    for (const Series& series : panel.series) *row += series.marks.size();
  }

  void WriteAxes(const PanelLayout& layout) {
    Line("set lmargin at screen {}; set rmargin at screen {}; set tmargin at screen {}; set bmargin at screen {}",
         ScreenX(layout.plot.left), ScreenX(layout.plot.right), ScreenY(layout.plot.top), ScreenY(layout.plot.bottom));
    Line("set border 3 linewidth 1.2 linecolor '#444444'");
    WriteAxis('x', layout.x, layout.tick_angle);
    WriteAxis('y', layout.y, 0);
    if (!layout.empty) Line("set grid ytics back linetype 1 linewidth 0.8 linecolor '#dcdcdc'");
  }

  void WriteAxis(char axis, const AxisFrame& frame, double angle) {
    if (frame.scale != Scale::kLinear) Line("set logscale {} {}", axis, frame.scale == Scale::kLog2 ? 2 : 10);
    Line("set {}range [{}:{}]", axis, Number(frame.low), Number(frame.high));
    std::string ticks;
    for (const Tick& tick : frame.ticks) {
      std::string text;  // a tick's text is a format for its number
      for (const char c : tick.text) text += c == '%' ? "%%" : std::string(1, c);
      ticks += fmt::format("{}{} {}", ticks.empty() ? "" : ", ", QuotedText(text), Number(tick.value));
    }
    if (ticks.empty()) return;
    Line("set {}tics out nomirror {} ({})", axis, angle == 0 ? "norotate" : fmt::format("rotate by {} right", Number(angle)),
         ticks);
  }

  void WriteBandsAndLines(const Panel& panel, const PanelLayout& layout) {
    for (size_t i = 0; i < panel.bands.size(); ++i) {
      const double low = std::max(panel.bands[i].low, layout.y.low), high = std::min(panel.bands[i].high, layout.y.high);
      if (!(low < high)) continue;
      Line("set object rectangle from graph 0, first {} to graph 1, first {} behind fillcolor '{}' fillstyle solid noborder",
           Number(low), Number(high), i % 2 == 0 ? "#e9e9e9" : "#f6f6f6");
    }
    for (const HorizontalLine& line : panel.lines) {
      if (!layout.y.Shows(line.y)) continue;
      Line(
          "set arrow from graph 0, first {0} to graph 1, first {0} nohead front dashtype (16,10) linewidth 1.3 linecolor "
          "'#777777'",
          Number(line.y));
    }
    if (layout.y.scale == Scale::kLinear && layout.y.low < 0 && layout.y.high > 0) {
      Line("set arrow from graph 0, first 0 to graph 1, first 0 nohead back linewidth 1 linecolor '#444444'");
    }
  }

  void WriteKey(const PanelLayout& layout) {
    if (!layout.key) return;
    Line("set key at {} top left Left reverse vertical maxrows {} samplen 2 spacing {} width 1 font '{},{}'",
         At(layout.key->box.left, layout.key->box.top + 0.2 * layout_.em), layout.key->rows, Number(1.12), kFontFamily,
         Number(layout_.em * kPointsPerPixel));
  }

  // Rows `first` to `last` of the CSV, counted from 0 behind the header.
  void AddPart(size_t first, size_t last, const std::string& rest) {
    parts_.push_back(fmt::format("data every ::{}::{} using {}", first, last, rest));
  }

  void WritePlot(const Panel& panel, const PanelLayout& layout, size_t row) {
    parts_.clear();
    for (size_t i = 0; i < panel.series.size(); ++i) {
      const Series& series = panel.series[i];
      if (CanDraw(layout, series)) {
        std::string title;
        if (layout.key) {
          for (const KeyEntry& entry : layout.key->entries) title = entry.series == i ? entry.text : title;
        }
        AddSeries(panel, layout, i, row, title.empty() ? "notitle" : "title " + QuotedText(title));
      }
      row += series.marks.size();
    }
    if (layout.key && !layout.key->more.empty()) {
      parts_.push_back("keyentry with points pointtype 0 linecolor '#ffffff' title " + QuotedText(layout.key->more));
    }
    if (parts_.empty()) parts_.push_back("NaN notitle");
    Line("plot \\\n  {}", fmt::join(parts_, ", \\\n  "));
  }

  void AddSeries(const Panel& panel, const PanelLayout& layout, size_t index, size_t first, const std::string& title) {
    const Series& series = panel.series[index];
    const size_t last = first + series.marks.size() - 1;
    const std::string colour = fmt::format("linecolor '{}'", kColours[series.colour % kColourCount]);
    const bool hollow = series.style == Series::Style::kHollow;
    const std::string point =
        fmt::format("pointtype {} pointsize {:.2f}{}", (hollow ? kHollowTypes : kPointTypes)[series.colour % kShapeCount],
                    layout_.em / 13, hollow ? " linewidth 2" : "");
    std::string x = "(column('x'))";
    switch (series.style) {
      case Series::Style::kLine:
        AddPart(first, last, fmt::format("'x':'y' with linespoints linewidth 2 {} {} {}", colour, point, title));
        break;
      case Series::Style::kCurve:
        AddPart(first, last, fmt::format("'x':'y' with lines linewidth 2.5 {} {}", colour, title));
        break;
      case Series::Style::kLevel:
        AddPart(first, last, fmt::format("'x':'y' with lines dashtype (14,8) linewidth 2.5 {} {}", colour, title));
        break;
      case Series::Style::kHollow:
      case Series::Style::kPoints:
        AddPart(first, last, fmt::format("'x':'y' with points {} {} {}", colour, point, title));
        break;
      case Series::Style::kReference:
        AddPart(first, last,
                fmt::format("'x':'y' with lines dashtype {} linewidth 1.8 linecolor '#555555' {}",
                            kGnuplotDashes[series.colour % kGnuplotDashes.size()], title));
        return;
      case Series::Style::kParts: {
        const BarSides sides = SidesOf(panel, layout.x, index);
        AddPart(first, last,
                fmt::format("'x':'y':(column('x')+{:.6g}):(column('x')+{:.6g}):'low':'y' with boxxyerror fillstyle solid 0.9 "
                            "noborder {} {}",
                            sides.left, sides.right, colour, title));
        return;
      }
      case Series::Style::kBars: {
        const BarSides sides = SidesOf(panel, layout.x, index);
        const double base = layout.y.Shows(0) ? 0 : layout.y.low;
        const auto moved = [&](double by) {
          return layout.x.scale == Scale::kLinear ? fmt::format("(column('x')+{:.6g})", by)
                                                  : fmt::format("(column('x')*{:.6g})", layout.x.FromScale(by));
        };
        x = moved(sides.middle());
        AddPart(first, last,
                fmt::format("{}:'y':{}:{}:({}):'y' with boxxyerror fillstyle solid 0.9 noborder {} {}", x, moved(sides.left),
                            moved(sides.right), Number(base), colour, title));
      }
    }
    if (std::none_of(series.marks.begin(), series.marks.end(),
                     [&](const Datum& mark) { return mark.low && mark.high && CanDraw(layout, mark); }))
      return;
    const std::string low = fmt::format("(column('low') > {0} ? column('low') : {0})", Number(layout.y.low));
    AddPart(first, last,
            fmt::format("{}:({}):(0):(column('high')-{}) with vectors heads size screen {:.5f},90 nofilled linewidth 1.8 "
                        "linecolor '{}' notitle",
                        x, low, low, 0.35 * layout_.em / figure_.width,
                        series.style == Series::Style::kBars ? "#333333" : kColours[series.colour % kColourCount]));
  }

  const Figure& figure_;
  const FigureLayout layout_;
  std::string text_;
  std::vector<std::string> parts_;
};

}  // namespace

std::string GnuplotQuoted(const std::string& text) {
  const std::string line = OneLine(text);
  const size_t quotes = std::min(line.find_first_not_of('\''), line.size());
  // gnuplot takes two quotes right at the start for an empty text, so leading ones stand in double quotes.
  std::string quoted = quotes > 0 ? '"' + std::string(quotes, '\'') + "\".'" : "'";
  for (const char c : line.substr(quotes)) quoted += c == '\'' ? "''" : std::string(1, c);
  return quoted + "'";
}

std::string GnuplotCsv(const Figure& figure) {
  std::string csv = "panel,series,x,y,low,high,panel_title,series_title,x_name,label\n";
  for (size_t i = 0; i < figure.panels.size(); ++i) {
    const Panel& panel = figure.panels[i];
    for (size_t j = 0; j < panel.series.size(); ++j) {
      for (const Datum& mark : panel.series[j].marks) {
        const bool named = mark.x >= 0 && mark.x < static_cast<double>(panel.x.categories.size());
        const std::string name = named ? panel.x.categories[static_cast<size_t>(mark.x)] : "";
        const double nan = std::numeric_limits<double>::quiet_NaN();
        fmt::format_to(std::back_inserter(csv), "{},{},{},{},{},{},{},{},{},{}\n", i + 1, j + 1, PlainNumber(mark.x),
                       PlainNumber(mark.y), PlainNumber(mark.low.value_or(nan)), PlainNumber(mark.high.value_or(nan)),
                       CsvText(panel.title), CsvText(panel.series[j].title), CsvText(name), CsvText(mark.label));
      }
    }
  }
  return csv;
}

std::string GnuplotScript(const Figure& figure) { return Script(figure).Write(); }

}  // namespace backplane
