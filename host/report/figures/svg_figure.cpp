#include "figures/svg_figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numbers>

#include "figures/figure_layout.hpp"
#include "figures/figure_text.hpp"
#include "figures/panel_layout.hpp"

namespace backplane {
namespace {

constexpr std::array<const char*, 3> kSvgDashes = {"10 6", "3 5", "14 5 3 5"};
constexpr const char* kLevelDash = " stroke-dasharray=\"8 5\"";

// A tenth of a pixel is enough, and what is far outside is cut off anyway.
std::string Pixels(double value) {
  const double tenth = std::round(std::clamp(value, -1e6, 1e6) * 10) / 10;
  return PlainNumber(tenth == 0 ? 0 : tenth);
}

std::string Colour(size_t colour) {
  const size_t index = colour % kColourCount;
  return fmt::format("var(--series-{}, {})", index + 1, index + 1 == kColourCount ? "currentColor" : kColours[index]);
}

class Svg {
 public:
  explicit Svg(const Figure& figure) : figure_(figure), layout_(LayOut(figure)), em_(layout_.em) {}

  std::string Write() {
    Line(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" width=\"100%\" role=\"img\" aria-label=\"{}\" "
        "font-family=\"'DejaVu Sans', Verdana, sans-serif\" font-size=\"{}\" fill=\"currentColor\">",
        figure_.width, figure_.height, XmlText(figure_.alt.empty() ? figure_.title : figure_.alt), Pixels(em_));
    Line("<title>{}</title>", XmlText(figure_.title));
    Line("<desc>{}</desc>", XmlText(figure_.alt));
    WriteTexts(layout_.texts);
    for (size_t i = 0; i < figure_.panels.size(); ++i) {
      Line("<g>");
      WritePanel(figure_.panels[i], layout_.panels[i]);
      Line("</g>");
    }
    Line("</svg>");
    return text_;
  }

 private:
  template <class... Args>
  void Line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }

  void WriteText(double x, double y, const std::string& text, const std::string& attributes) {
    Line("<text x=\"{}\" y=\"{}\" dy=\"0.35em\"{}>{}</text>", Pixels(x), Pixels(y), attributes, XmlText(text));
  }

  static std::string Anchor(Align align) {
    return align == Align::kLeft ? "" : align == Align::kCentre ? " text-anchor=\"middle\"" : " text-anchor=\"end\"";
  }

  static std::string Turned(double angle, double x, double y) {
    return angle == 0 ? "" : fmt::format(" transform=\"rotate({} {} {})\"", Pixels(-angle), Pixels(x), Pixels(y));
  }

  void WriteTexts(const std::vector<TextLayout>& texts) {
    for (const TextLayout& text : texts) {
      if (text.text.empty()) continue;
      std::string attributes = Anchor(text.align) + Turned(text.angle, text.x, text.y);
      if (text.size != 1) attributes += fmt::format(" font-size=\"{}\"", Pixels(text.size * em_));
      if (text.bold) attributes += " font-weight=\"bold\"";
      if (text.muted) attributes += " fill-opacity=\"0.7\"";
      WriteText(text.x, text.y, text.text, attributes);
    }
  }

  void WriteLine(double x0, double y0, double x1, double y1, const std::string& attributes) {
    Line("<path d=\"M{} {}L{} {}\" {}/>", Pixels(x0), Pixels(y0), Pixels(x1), Pixels(y1), attributes);
  }

  void WriteBox(const Box& box, const std::string& attributes) {
    Line("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" {}/>", Pixels(box.left), Pixels(box.top), Pixels(box.width()),
         Pixels(box.height()), attributes);
  }

  void WritePanel(const Panel& panel, const PanelLayout& layout) {
    for (const Box& tint : layout.tints) WriteBox(tint, "style=\"fill: var(--series-1, #0072B2)\" fill-opacity=\"0.15\"");
    for (const Box& rule : layout.rules) WriteLine(rule.left, rule.top, rule.right, rule.top, "stroke=\"currentColor\"");
    if (!layout.is_table) {
      WriteBands(panel, layout);
      WriteAxes(layout);
      const Box& plot =
          layout.plot;  // an inner svg cuts off what leaves the plot, and needs no id that another figure may have
      const std::string box =
          fmt::format("{} {} {} {}", Pixels(plot.left), Pixels(plot.top), Pixels(plot.width()), Pixels(plot.height()));
      Line("<svg x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" viewBox=\"{}\" overflow=\"hidden\">", Pixels(plot.left),
           Pixels(plot.top), Pixels(plot.width()), Pixels(plot.height()), box);
      for (size_t i = 0; i < panel.series.size(); ++i) WriteSeries(panel, layout, i);
      Line("</svg>");
      WriteLines(panel, layout);
      for (const Series& series : panel.series) WriteMarks(series, layout);
      if (layout.key) WriteKey(panel, *layout.key);
    }
    WriteTexts(layout.texts);
  }

  void WriteBands(const Panel& panel, const PanelLayout& layout) {
    for (size_t i = 0; i < panel.bands.size(); ++i) {
      const double low = std::max(panel.bands[i].low, layout.y.low), high = std::min(panel.bands[i].high, layout.y.high);
      if (!(low < high)) continue;
      WriteBox({layout.plot.left, YOf(layout, high), layout.plot.right, YOf(layout, low)},
               fmt::format("fill-opacity=\"{}\"", i % 2 == 0 ? "0.09" : "0.035"));
    }
  }

  void WriteAxes(const PanelLayout& layout) {
    const Box& plot = layout.plot;
    for (const Tick& tick : layout.y.ticks) {
      const double y = YOf(layout, tick.value);
      WriteLine(plot.left, y, plot.right, y, "stroke=\"currentColor\" stroke-opacity=\"0.15\"");
      WriteLine(plot.left - 0.3 * em_, y, plot.left, y, "stroke=\"currentColor\"");
      WriteText(plot.left - 0.5 * em_, y, tick.text, Anchor(Align::kRight));
    }
    for (const Tick& tick : layout.x.ticks) {
      const double x = XOf(layout, tick.value), y = plot.bottom + (layout.tick_angle == 0 ? 1.0 : 0.6) * em_;
      WriteLine(x, plot.bottom, x, plot.bottom + 0.3 * em_, "stroke=\"currentColor\"");
      WriteText(x, y, tick.text,
                Anchor(layout.tick_angle == 0 ? Align::kCentre : Align::kRight) + Turned(layout.tick_angle, x, y));
    }
    Line("<path d=\"M{0} {1}V{2}H{3}\" fill=\"none\" stroke=\"currentColor\"/>", Pixels(plot.left), Pixels(plot.top),
         Pixels(plot.bottom), Pixels(plot.right));
  }

  void WriteLines(const Panel& panel, const PanelLayout& layout) {
    const Box& plot = layout.plot;
    for (const HorizontalLine& line : panel.lines) {
      if (!layout.y.Shows(line.y)) continue;
      const double y = YOf(layout, line.y);
      WriteLine(plot.left, y, plot.right, y, "stroke=\"currentColor\" stroke-opacity=\"0.6\" stroke-dasharray=\"8 5\"");
    }
    if (layout.y.scale == Scale::kLinear && layout.y.low < 0 && layout.y.high > 0) {
      WriteLine(plot.left, YOf(layout, 0), plot.right, YOf(layout, 0), "stroke=\"currentColor\" stroke-opacity=\"0.7\"");
    }
  }

  // What may leave the plot and is cut off there: bars, lines, whiskers.
  void WriteSeries(const Panel& panel, const PanelLayout& layout, size_t index) {
    const Series& series = panel.series[index];
    const std::string colour = Colour(series.colour);
    const bool parts = series.style == Series::Style::kParts, bars = parts || series.style == Series::Style::kBars;
    const BarSides sides = SidesOf(panel, layout.x, index);
    const auto moved = [&](double x, double by) { return XOf(layout, layout.x.FromScale(layout.x.OnScale(x) + by)); };
    std::string path, whiskers;
    bool broken = true;
    for (const Datum& mark : series.marks) {
      if (!CanDraw(layout, mark)) {
        broken = true;
        continue;
      }
      const double y = YOf(layout, mark.y), x = bars ? moved(mark.x, sides.middle()) : XOf(layout, mark.x);
      if (bars) {
        const double zero = layout.y.Shows(0) ? YOf(layout, 0) : layout.plot.bottom;
        const double base = parts ? YOf(layout, mark.low.value_or(0)) : zero;
        WriteBox({moved(mark.x, sides.left), std::min(y, base), moved(mark.x, sides.right), std::max(y, base)},
                 "style=\"fill: " + colour + "\" fill-opacity=\"0.9\"");
      }
      path += fmt::format("{}{} {}", broken ? "M" : "L", Pixels(x), Pixels(y));
      broken = false;
      if (!parts && mark.low && mark.high && layout.y.CanShow(*mark.high)) {
        const double low = layout.y.CanShow(*mark.low) ? YOf(layout, *mark.low) : layout.plot.bottom;
        const double cap = 0.35 * em_;
        whiskers += fmt::format("M{0} {1}V{2}M{3} {1}h{5}M{3} {4}h{5}", Pixels(x), Pixels(low), Pixels(YOf(layout, *mark.high)),
                                Pixels(x - cap), Pixels(YOf(layout, *mark.high)), Pixels(2 * cap));
      }
    }
    const std::string stroke = "fill=\"none\" stroke-width=\"" + Pixels(em_ / 8) + "\"";
    const bool solid = series.style == Series::Style::kLine || series.style == Series::Style::kCurve;
    if ((solid || series.style == Series::Style::kLevel) && !path.empty()) {
      Line("<path d=\"{}\" {} style=\"stroke: {}\"{}/>", path, stroke, colour, solid ? "" : kLevelDash);
    }
    if (series.style == Series::Style::kReference && !path.empty()) {
      Line("<path d=\"{}\" {} stroke=\"currentColor\" stroke-opacity=\"0.7\" stroke-dasharray=\"{}\"/>", path, stroke,
           kSvgDashes[series.colour % kSvgDashes.size()]);
    } else if (!whiskers.empty()) {
      Line("<path d=\"{}\" {} style=\"stroke: {}\"/>", whiskers, stroke, bars ? "currentColor" : colour);
    }
  }

  void WriteMarks(const Series& series, const PanelLayout& layout) {
    const bool hollow = series.style == Series::Style::kHollow;
    if (!hollow && series.style != Series::Style::kLine && series.style != Series::Style::kPoints) return;
    for (const Datum& mark : series.marks) {
      if (layout.x.Shows(mark.x) && layout.y.Shows(mark.y))
        WriteMark(series.colour, XOf(layout, mark.x), YOf(layout, mark.y), hollow);
    }
  }

  void WriteMark(size_t colour, double x, double y, bool hollow) {
    // Corners of each shape and the angle of the first, so that the shapes look equally large.
    struct Shape {
      int corners;
      double first, size;
    };
    constexpr std::array<Shape, kShapeCount> kShapes = {
        {{0, 0, 0.36}, {4, 45, 0.45}, {3, 90, 0.48}, {4, 90, 0.46}, {3, 270, 0.48}, {5, 90, 0.42}}};
    const Shape& shape = kShapes[colour % kShapeCount];
    const std::string style =
        hollow ? fmt::format("fill=\"none\" stroke-width=\"{}\" style=\"stroke: {}\"", Pixels(em_ / 8), Colour(colour))
               : "style=\"fill: " + Colour(colour) + "\"";
    if (shape.corners == 0) {
      Line("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" {}/>", Pixels(x), Pixels(y), Pixels(shape.size * em_), style);
      return;
    }
    std::string points;
    for (int corner = 0; corner < shape.corners; ++corner) {
      const double angle = (shape.first + corner * 360.0 / shape.corners) * std::numbers::pi / 180;
      points += fmt::format("{}{},{}", corner == 0 ? "" : " ", Pixels(x + shape.size * em_ * std::cos(angle)),
                            Pixels(y - shape.size * em_ * std::sin(angle)));
    }
    Line("<polygon points=\"{}\" {}/>", points, style);
  }

  void WriteKey(const Panel& panel, const KeyLayout& key) {
    const auto place = [&](size_t entry, double* x, double* y) {
      *x = key.box.left + static_cast<double>(entry / key.rows) * key.column_width;
      *y = key.box.top + (0.15 + kKeyRow * (static_cast<double>(entry % key.rows) + 0.5)) * em_;
    };
    double x = 0, y = 0;
    for (size_t i = 0; i < key.entries.size(); ++i) {
      place(i, &x, &y);
      WriteSample(panel.series[key.entries[i].series], x, y);
      WriteText(x + kKeySample * em_, y, key.entries[i].text, "");
    }
    if (key.more.empty()) return;
    place(key.entries.size(), &x, &y);
    WriteText(x + kKeySample * em_, y, key.more, " fill-opacity=\"0.7\"");
  }

  void WriteSample(const Series& series, double x, double y) {
    const double left = x + 0.2 * em_, right = x + 2.2 * em_, middle = (left + right) / 2;
    const std::string colour = Colour(series.colour), width = "stroke-width=\"" + Pixels(em_ / 8) + "\"";
    switch (series.style) {
      case Series::Style::kLevel: WriteLine(left, y, right, y, width + " style=\"stroke: " + colour + "\"" + kLevelDash); break;
      case Series::Style::kCurve: WriteLine(left, y, right, y, width + " style=\"stroke: " + colour + "\""); break;
      case Series::Style::kLine: WriteLine(left, y, right, y, width + " style=\"stroke: " + colour + "\""); [[fallthrough]];
      case Series::Style::kPoints: WriteMark(series.colour, middle, y, false); break;
      case Series::Style::kHollow: WriteMark(series.colour, middle, y, true); break;
      case Series::Style::kParts:
      case Series::Style::kBars:
        WriteBox({left, y - 0.35 * em_, right, y + 0.35 * em_}, "style=\"fill: " + colour + "\" fill-opacity=\"0.9\"");
        break;
      case Series::Style::kReference:
        WriteLine(left, y, right, y,
                  fmt::format("{} stroke=\"currentColor\" stroke-opacity=\"0.7\" stroke-dasharray=\"{}\"", width,
                              kSvgDashes[series.colour % kSvgDashes.size()]));
    }
  }

  const Figure& figure_;
  const FigureLayout layout_;
  const double em_;
  std::string text_;
};

}  // namespace

std::string DrawSvg(const Figure& figure) { return Svg(figure).Write(); }

}  // namespace backplane
