#include "figures/figure_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "figures/figure_text.hpp"
#include "figures/panel_layout.hpp"

namespace backplane {
namespace {

constexpr double kTitleSize = 1.15;
constexpr double kBarWidth = 0.76;  // of the distance between two bars, or groups of them
constexpr double kFootnoteSize = 0.85;
constexpr double kLevelTicks = 1.7;  // em from the axis to below its numbers

// All values that an axis must hold; bars start from zero.
void Collect(const Panel& panel, std::vector<double>* xs, std::vector<double>* ys) {
  const bool not_negative = std::none_of(panel.series.begin(), panel.series.end(), [](const Series& series) {
    return std::any_of(series.marks.begin(), series.marks.end(), [](const Datum& mark) { return mark.y < 0; });
  });
  for (const Series& series : panel.series) {
    for (const Datum& mark : series.marks) {
      if (!std::isfinite(mark.y)) continue;
      xs->push_back(mark.x);
      ys->push_back(mark.y);
      // An interval by Student's t reaches below zero where no value can: that part is cut off.
      const double low = mark.low.value_or(mark.y);
      ys->insert(ys->end(), {not_negative ? std::max(low, 0.0) : low, mark.high.value_or(mark.y)});
    }
  }
  for (const HorizontalLine& line : panel.lines) ys->push_back(line.y);
}

bool HasBars(const Panel& panel) {
  return std::any_of(panel.series.begin(), panel.series.end(), [](const Series& series) {
    return series.style == Series::Style::kBars || series.style == Series::Style::kParts;
  });
}

double Widest(const std::vector<Tick>& ticks) {
  double width = 0;
  for (const Tick& tick : ticks) width = std::max(width, TextWidth(tick.text));
  return width;
}

double WidestSideLabel(const Panel& panel) {
  double width = 0;
  for (const HorizontalBand& band : panel.bands) width = std::max(width, TextWidth(OneLine(band.label)));
  for (const HorizontalLine& line : panel.lines) width = std::max(width, TextWidth(OneLine(line.label)));
  return width;
}

void FrameAxes(const Panel& panel, PanelLayout* layout) {
  std::vector<double> xs, ys;
  Collect(panel, &xs, &ys);
  layout->y = FrameOf(panel.y, ys, {.from_zero = true, .with_zero = HasBars(panel)});
  layout->x = FrameOf(panel.x, xs, {});
  if (HasBars(panel) && panel.x.categories.empty() && !xs.empty()) {  // a bar is wider than its x
    AxisFrame& x = layout->x;
    double out = 0;
    for (size_t i = 0; i < panel.series.size(); ++i) {
      if (panel.series[i].style == Series::Style::kBars) out = std::max(out, SidesOf(panel, x, i).right);
    }
    if (!panel.x.low) x.low = x.FromScale(x.OnScale(x.low) - out);
    if (!panel.x.high) x.high = x.FromScale(x.OnScale(x.high) + out);
  }
  layout->empty =
      std::none_of(panel.series.begin(), panel.series.end(), [&](const Series& series) { return CanDraw(*layout, series); });
}

// Chooses how the names of categories are written: beside each other, slanted, upright, or only some of them. Returns the
// height they need, in em.
double TickCategories(const Panel& panel, const Box& cell, double em, PanelLayout* layout) {
  std::vector<std::string> names;
  double widest = 0;
  for (const std::string& name : panel.x.categories) {
    names.push_back(OneLine(name));
    widest = std::max(widest, TextWidth(names.back()));
  }
  const double slot = layout->plot.width() / em / (layout->x.high - layout->x.low);
  const double most_height = 0.33 * cell.height() / em;
  double width = slot - 0.6;
  size_t stride = 1;
  if (widest > width) {
    layout->tick_angle = slot >= 1.8 ? 40 : 90;
    const double radians = layout->tick_angle * std::numbers::pi / 180;
    width = most_height / std::sin(radians) - 1;
    if (layout->tick_angle == 40) {  // the first name reaches to the left of the plot, which makes some room for it
      const double first = (layout->plot.left - cell.left) / em + slot * 0.6;
      const double lacks = std::min(width, widest) * std::cos(radians) - first;
      const double room = std::clamp(lacks, 0.0, std::max(0.0, 0.08 * cell.width() / em));
      layout->plot.left += room * em;
      width = std::min(width, (first + room) / std::cos(radians));
    }
    stride = slot >= 1.2 ? 1 : static_cast<size_t>(std::ceil(1.2 / slot));
  }
  names = ShortenNames(names, width);
  double used = 0;
  for (size_t i = 0; i < names.size(); i += stride) {
    layout->x.ticks.push_back({static_cast<double>(i), names[i]});
    used = std::max(used, TextWidth(layout->x.ticks.back().text));
  }
  const double radians = layout->tick_angle * std::numbers::pi / 180;
  return layout->tick_angle == 0 ? kLevelTicks : used * std::sin(radians) + std::cos(radians) + 0.2;
}

double TickX(const Panel& panel, const Box& cell, double em, PanelLayout* layout) {
  if (layout->empty) return 0.5;
  if (!panel.x.categories.empty()) return TickCategories(panel, cell, em, layout);
  for (int most = 10; most >= 2; --most) {
    layout->x.ticks = TicksOf(layout->x, most);
    const double room = layout->plot.width() / em / static_cast<double>(std::max<size_t>(1, layout->x.ticks.size()));
    if (Widest(layout->x.ticks) + 0.8 <= room) break;
  }
  return kLevelTicks;
}

void PlacePanel(const Panel& panel, const Box& cell, double em, PanelLayout* layout) {
  const double middle = (cell.left + cell.right) / 2;
  const std::string title = Shorten(OneLine(panel.title), cell.width() / em / kTitleSize / 1.15);
  layout->texts.push_back({middle, cell.top + 0.8 * em, title, Align::kCentre, kTitleSize, true});
  const double top = cell.top + (title.empty() ? 0.3 : 2.1) * em;
  if (panel.table) {
    layout->is_table = true;
    PlaceTable(*panel.table, {cell.left, top, cell.right, cell.bottom}, em, layout);
    return;
  }
  FrameAxes(panel, layout);
  if (!layout->empty) layout->y.ticks = TicksOf(layout->y, std::clamp(static_cast<int>(cell.height() / em / 4.5), 2, 7));
  const double y_label = panel.y.label.empty() ? 0 : 1.8, side = std::min(WidestSideLabel(panel), cell.width() / em * 0.2);
  layout->plot = {cell.left + (y_label + Widest(layout->y.ticks) + 0.9) * em, top,
                  cell.right - (side > 0 ? side + 0.7 : 1.2) * em, cell.bottom};
  const double ticks_height = TickX(panel, cell, em, layout);
  const double x_label = panel.x.label.empty() ? 0 : 1.6;
  const bool labelled = std::any_of(panel.series.begin(), panel.series.end(), [](const Series& series) {
    return std::any_of(series.marks.begin(), series.marks.end(), [](const Datum& mark) { return !mark.label.empty(); });
  });
  const double footnote = labelled ? 1.3 : 0;  // room for "3 names left out"
  layout->plot.bottom = cell.bottom - (ticks_height + 0.6 + x_label + footnote) * em;
  if (!layout->empty) PlaceKey(panel, em, layout);
  const Box& plot = layout->plot;
  if (!panel.x.label.empty()) {
    const double centre = (plot.left + plot.right) / 2;
    layout->texts.push_back({centre, cell.bottom - (footnote + 0.7) * em,
                             Shorten(OneLine(panel.x.label), 2 * std::min(centre - cell.left, cell.right - centre) / em),
                             Align::kCentre});
  }
  if (!panel.y.label.empty()) {
    layout->texts.push_back({cell.left + 0.7 * em, (plot.top + plot.bottom) / 2,
                             Shorten(OneLine(panel.y.label), plot.height() / em), Align::kCentre, 1, false, false, 90});
  }
  PlaceSideLabels(panel, em, side, layout);
  if (layout->empty) {
    const std::string note = Shorten(OneLine(panel.note.empty() ? "no data" : panel.note), plot.width() / em / 1.1 - 1);
    layout->texts.push_back(
        {(plot.left + plot.right) / 2, (plot.top + plot.bottom) / 2, note, Align::kCentre, 1.1, false, true});
    return;
  }
  if (const size_t left_out = PlaceMarkLabels(panel, em, layout); left_out > 0) {
    layout->texts.push_back({plot.right, cell.bottom - 0.5 * em,
                             fmt::format("{} name{} left out: no room", left_out, left_out == 1 ? "" : "s"), Align::kRight,
                             kFootnoteSize, false, true});
  }
}

}  // namespace

bool CanDraw(const PanelLayout& panel, const Datum& mark) { return panel.x.CanShow(mark.x) && panel.y.CanShow(mark.y); }

bool CanDraw(const PanelLayout& panel, const Series& series) {
  return std::any_of(series.marks.begin(), series.marks.end(), [&](const Datum& mark) { return CanDraw(panel, mark); });
}

BarSides SidesOf(const Panel& panel, const AxisFrame& x, size_t series) {
  if (panel.series[series].style == Series::Style::kParts) return {-kBarWidth / 2, kBarWidth / 2};
  std::vector<double> places;
  size_t bars = 0, before = 0;
  for (size_t i = 0; i < panel.series.size(); ++i) {
    if (panel.series[i].style != Series::Style::kBars) continue;
    ++bars;
    before += i < series;
    for (const Datum& mark : panel.series[i].marks) {
      if (x.CanShow(mark.x)) places.push_back(x.OnScale(mark.x));
    }
  }
  std::sort(places.begin(), places.end());
  double gap = 0;
  for (size_t i = 1; i < places.size(); ++i) {
    const double distance = places[i] - places[i - 1];
    if (distance > 0 && (gap == 0 || distance < gap)) gap = distance;
  }
  const double group = kBarWidth * (gap > 0 && panel.x.categories.empty() ? gap : 1);
  const double width = group / static_cast<double>(std::max<size_t>(1, bars));
  const double left = -group / 2 + width * static_cast<double>(before);
  return {left, left + width * (bars > 1 ? 0.92 : 1)};
}

FigureLayout LayOut(const Figure& figure) {
  FigureLayout layout;
  const size_t columns = std::max<size_t>(1, figure.columns);
  const size_t rows = std::max<size_t>(1, (figure.panels.size() + columns - 1) / columns);
  const double cell_width = static_cast<double>(figure.width) / static_cast<double>(columns);
  const double cell_height = static_cast<double>(figure.height) / static_cast<double>(rows);
  layout.em = std::max(6.0, std::round(std::min(cell_width, cell_height * 1.25) / 42));
  const double em = layout.em;
  const double title_height = figure.title.empty() ? 0.5 * em : 3.2 * em;
  if (!figure.title.empty()) {
    layout.texts.push_back({figure.width / 2.0, 1.7 * em, Shorten(OneLine(figure.title), figure.width / em / 1.5 / 1.15),
                            Align::kCentre, 1.5, true});
  }
  const double height = (figure.height - title_height - 0.5 * em) / static_cast<double>(rows);
  for (size_t i = 0; i < figure.panels.size(); ++i) {
    const double left = cell_width * static_cast<double>(i % columns);
    const double top = title_height + height * static_cast<double>(i / columns);
    const Box cell = {left + em, top + 0.5 * em, left + cell_width - em, top + height - 0.8 * em};
    PlacePanel(figure.panels[i], cell, em, &layout.panels.emplace_back());
  }
  return layout;
}

}  // namespace backplane
