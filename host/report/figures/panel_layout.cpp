#include "figures/panel_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "figures/figure_text.hpp"

namespace backplane {
namespace {

constexpr double kSmall = 0.85;

Box Around(double x, double y, double half) { return {x - half, y - half, x + half, y + half}; }

void AddSegment(const Box& plot, double x0, double y0, double x1, double y1, double em, std::vector<Box>* boxes) {
  const int steps = 1 + static_cast<int>(std::min(400.0, std::hypot(x1 - x0, y1 - y0) / (0.5 * em)));
  for (int i = 0; i <= steps; ++i) {
    const double part = static_cast<double>(i) / steps;
    const Box box = Around(x0 + part * (x1 - x0), y0 + part * (y1 - y0), 0.25 * em);
    if (box.Meets(plot)) boxes->push_back(box);
  }
}

bool IsFree(const Box& box, const std::vector<Box>& obstacles) {
  return std::none_of(obstacles.begin(), obstacles.end(), [&](const Box& other) { return box.Meets(other); });
}

Box InCorner(KeyPlace place, const Box& plot, double width, double height, double gap) {
  const bool top = place == KeyPlace::kTopLeft || place == KeyPlace::kTopRight;
  const bool left = place == KeyPlace::kTopLeft || place == KeyPlace::kBottomLeft;
  const double x = left ? plot.left + gap : plot.right - gap - width;
  const double y = top ? plot.top + gap : plot.bottom - gap - height;
  return {x, y, x + width, y + height};
}

}  // namespace

std::vector<Box> Obstacles(const Panel& panel, const PanelLayout& layout, double em) {
  std::vector<Box> boxes;
  for (size_t i = 0; i < panel.series.size(); ++i) {
    const Series& series = panel.series[i];
    const bool parts = series.style == Series::Style::kParts, bars = parts || series.style == Series::Style::kBars;
    const bool line = !bars && series.style != Series::Style::kPoints && series.style != Series::Style::kHollow;
    const BarSides sides = SidesOf(panel, layout.x, i);
    const Datum* before = nullptr;
    for (const Datum& mark : series.marks) {
      if (!CanDraw(layout, mark)) {
        before = nullptr;
        continue;
      }
      const double middle = XOf(layout, bars ? layout.x.FromScale(layout.x.OnScale(mark.x) + sides.middle()) : mark.x);
      const double y = YOf(layout, mark.y);
      boxes.push_back(Around(middle, y, 0.5 * em));
      if (bars) {
        const double half = (sides.right - sides.left) / 2 * layout.plot.width() /
                            (layout.x.OnScale(layout.x.high) - layout.x.OnScale(layout.x.low));
        const double zero = layout.y.Shows(0) ? YOf(layout, 0) : layout.plot.bottom;
        const double base = parts ? YOf(layout, mark.low.value_or(0)) : zero;
        boxes.push_back({middle - half, std::min(y, base), middle + half, std::max(y, base)});
      }
      if (!parts && mark.low && mark.high && layout.y.CanShow(*mark.high)) {
        const double low = layout.y.CanShow(*mark.low) ? YOf(layout, *mark.low) : layout.plot.bottom,
                     high = YOf(layout, *mark.high);
        boxes.push_back({middle - 0.4 * em, std::min(low, high), middle + 0.4 * em, std::max(low, high)});
      }
      if (line && before != nullptr)
        AddSegment(layout.plot, XOf(layout, before->x), YOf(layout, before->y), middle, y, em, &boxes);
      before = &mark;
    }
  }
  return boxes;
}

void PlaceKey(const Panel& panel, double em, PanelLayout* layout) {
  KeyLayout key;
  double widest = 0;
  const double most = layout->plot.width() / em - kKeySample - 1;
  for (size_t i = 0; i < panel.series.size(); ++i) {
    if (panel.series[i].title.empty() || !CanDraw(*layout, panel.series[i])) continue;
    key.entries.push_back({i, Shorten(OneLine(panel.series[i].title), std::min(most, 24.0))});
    widest = std::max(widest, TextWidth(key.entries.back().text));
  }
  if (key.entries.empty()) return;
  key.column_width = (kKeySample + widest + 0.8) * em;
  key.rows = key.entries.size();
  const double height = (kKeyRow * static_cast<double>(key.rows) + 0.3) * em;
  const bool fits = height < 0.6 * layout->plot.height() && key.column_width < 0.7 * layout->plot.width();
  const std::vector<Box> obstacles = Obstacles(panel, *layout, em);
  for (const KeyPlace place :
       {panel.key, KeyPlace::kTopLeft, KeyPlace::kTopRight, KeyPlace::kBottomLeft, KeyPlace::kBottomRight}) {
    key.box = InCorner(place, layout->plot, key.column_width, height, 0.4 * em);
    if (fits && IsFree(key.box, obstacles)) {
      layout->key = key;
      return;
    }
  }
  const size_t columns = std::max<size_t>(1, static_cast<size_t>(layout->plot.width() / key.column_width));
  const size_t most_rows = std::max<size_t>(1, static_cast<size_t>(0.35 * layout->plot.height() / (kKeyRow * em)));
  if (key.entries.size() > columns * most_rows) {
    const size_t kept = columns * most_rows - 1;
    key.more = fmt::format("and {} more", key.entries.size() - kept);
    key.entries.resize(kept);
  }
  key.rows = (key.entries.size() + !key.more.empty() + columns - 1) / columns;
  const double used = static_cast<double>((key.entries.size() + !key.more.empty() + key.rows - 1) / key.rows);
  const double bottom = layout->plot.top + (kKeyRow * static_cast<double>(key.rows) + 0.3) * em;
  key.box = {layout->plot.left, layout->plot.top, layout->plot.left + used * key.column_width, bottom};
  layout->plot.top = bottom + 0.3 * em;
  layout->key = key;
}

size_t PlaceMarkLabels(const Panel& panel, double em, PanelLayout* layout) {
  std::vector<Box> taken = Obstacles(panel, *layout, em);
  if (layout->key) taken.push_back(layout->key->box);
  const Box& plot = layout->plot;
  size_t left_out = 0;
  for (size_t i = 0; i < panel.series.size(); ++i) {
    const bool bars = panel.series[i].style == Series::Style::kBars;
    const double aside = bars ? SidesOf(panel, layout->x, i).middle() : 0;
    for (const Datum& mark : panel.series[i].marks) {
      if (mark.label.empty() || !layout->x.CanShow(mark.x)) continue;
      const std::string text = Shorten(OneLine(mark.label), 18);
      const double half = (TextWidth(text) * kSmall / 2 + 0.15) * em, high = 0.55 * em;
      const double x = XOf(*layout, layout->x.FromScale(layout->x.OnScale(mark.x) + aside));
      const bool missing = !layout->y.CanShow(mark.y);  // its label stands on the axis, where the mark would be
      const double y = missing ? plot.bottom - high : YOf(*layout, mark.y);
      const std::array<std::pair<double, double>, 9> places = {{{x, y - 1.15 * em},
                                                                {x + half + 0.6 * em, y},
                                                                {x - half - 0.6 * em, y},
                                                                {x, y + 1.15 * em},
                                                                {x + half + 0.4 * em, y - 0.9 * em},
                                                                {x - half - 0.4 * em, y - 0.9 * em},
                                                                {x + half + 0.4 * em, y + 0.9 * em},
                                                                {x - half - 0.4 * em, y + 0.9 * em},
                                                                {x, y}}};
      const auto found = std::find_if(missing ? places.end() - 1 : places.begin(), missing ? places.end() : places.end() - 1,
                                      [&](const auto& at) {
                                        const Box box = {at.first - half, at.second - high, at.first + half, at.second + high};
                                        return box.left >= plot.left && box.right <= plot.right && box.top >= plot.top &&
                                               box.bottom <= plot.bottom && IsFree(box, taken);
                                      });
      if (found == places.end() || (!missing && found == places.end() - 1)) {
        ++left_out;
        continue;
      }
      taken.push_back({found->first - half, found->second - high, found->first + half, found->second + high});
      layout->texts.push_back({found->first, found->second, text, Align::kCentre, kSmall, false, missing});
    }
  }
  return left_out;
}

void PlaceSideLabels(const Panel& panel, double em, double width, PanelLayout* layout) {
  std::vector<TextLayout> labels;
  const auto add = [&](double y, const std::string& text) {
    if (text.empty()) return;
    labels.push_back(
        {layout->plot.right + 0.4 * em, y, Shorten(OneLine(text), width / kSmall), Align::kLeft, kSmall, false, true});
  };
  for (const HorizontalBand& band : panel.bands) {
    const double low = std::max(band.low, layout->y.low), high = std::min(band.high, layout->y.high);
    if (low < high) add((YOf(*layout, low) + YOf(*layout, high)) / 2, band.label);
  }
  for (const HorizontalLine& line : panel.lines) {
    if (layout->y.Shows(line.y)) add(YOf(*layout, line.y), line.label);
  }
  std::stable_sort(labels.begin(), labels.end(), [](const TextLayout& a, const TextLayout& b) { return a.y < b.y; });
  for (size_t i = 1; i < labels.size(); ++i) labels[i].y = std::max(labels[i].y, labels[i - 1].y + 1.05 * em);
  double lowest = layout->plot.bottom;
  for (size_t i = labels.size(); i-- > 0; lowest = labels[i].y - 1.05 * em) labels[i].y = std::min(labels[i].y, lowest);
  layout->texts.insert(layout->texts.end(), labels.begin(), labels.end());
}

}  // namespace backplane
