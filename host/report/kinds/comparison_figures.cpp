#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "kinds/comparison_report.hpp"
#include "kinds/comparison_scores.hpp"

namespace backplane {
namespace {

constexpr int kPanelWidth = 1000, kPanelHeight = 750;
constexpr int kTableHead = 260, kTableRow = 40;

std::string WithUnit(const MeasureSpec& measure) {
  return measure.unit.empty() ? measure.title : fmt::format("{} [{}]", measure.title, measure.unit);
}

Figure Empty(const FigureSpec& spec, const std::string& title, size_t panels) {
  Figure figure;
  figure.name = spec.file.substr(0, spec.file.size() - std::string_view(".png").size());
  figure.title = spec.title.empty() ? title : spec.title;
  figure.alt = figure.title;
  figure.columns = panels <= 1 ? 1 : panels == 4 ? 2 : std::min<size_t>(panels, 3);
  const size_t rows = (panels + figure.columns - 1) / std::max<size_t>(figure.columns, 1);
  figure.width = kPanelWidth * static_cast<int>(figure.columns);
  figure.height = kPanelHeight * static_cast<int>(std::max<size_t>(rows, 1));
  return figure;
}

// Whether none of the `rivals`, other rows, has a better number in that column, or one that reads the same.
bool IsBest(const Table& table, size_t column, size_t row, const std::vector<size_t>& rivals) {
  const Column& about = table.columns[column];
  const auto number = [&](size_t of) {
    const Number* found = std::get_if<Number>(&table.rows[of][column]);
    return found != nullptr && std::isfinite(found->value) ? found : nullptr;
  };
  if (about.direction == 0 || number(row) == nullptr || rivals.empty()) return false;
  return std::all_of(rivals.begin(), rivals.end(), [&](size_t other) {
    if (number(other) == nullptr) return true;
    return about.direction * (number(row)->value - number(other)->value) > 0 &&
           FormatCell(table.rows[other][column], about) != FormatCell(table.rows[row][column], about);
  });
}

bool HasMark(const std::vector<std::string>& cells) {
  return std::any_of(cells.begin(), cells.end(), [](const std::string& cell) { return cell.ends_with(" *"); });
}

// A curve of one value, as of a point that learns nothing, is a level for the others: drawn as wide as they are. Where none of
// them has a width they are points.
void DrawLevels(std::vector<Series>* curves) {
  double left = INFINITY, right = -INFINITY;
  for (const Series& curve : *curves) {
    if (curve.marks.size() < 2) continue;
    for (const Datum& mark : curve.marks) left = std::min(left, mark.x), right = std::max(right, mark.x);
  }
  for (Series& curve : *curves) {
    if (curve.marks.size() != 1) continue;
    const double y = curve.marks.front().y;
    curve.style = left < right ? Series::Style::kLevel : Series::Style::kPoints;
    if (left < right) curve.marks = {{left, y, {}, {}, ""}, {right, y, {}, {}, ""}};
  }
}

class Drawer {
 public:
  Drawer(const Combined& combined, const std::vector<ComparedPoint>& points)
      : combined_(combined), points_(points), scoring_(combined, points) {}

  Figure Scatter(const FigureSpec& spec) const {
    Figure figure = Empty(spec, fmt::format("{} against {}", spec.y[0].title, spec.x->title), 1);
    Panel panel;
    panel.x.label = WithUnit(*spec.x);
    panel.y.label = spec.y.size() > 1 ? spec.y[0].title : WithUnit(spec.y[0]);
    for (size_t hollow = 1; hollow < spec.y.size(); ++hollow)
      panel.y.label += fmt::format("{} {}", hollow == 1 ? "; hollow:" : ",", spec.y[hollow].title);
    panel.key = KeyPlace::kTopRight;
    for (size_t measure = 0; measure < spec.y.size(); ++measure) {
      for (size_t i = 0; i < points_.size(); ++i) {
        const auto x = scoring_.Value(i, *spec.x), y = scoring_.Value(i, spec.y[measure]);
        if (!x || !y || !std::isfinite(x->value) || !std::isfinite(y->value)) continue;
        const bool filled = measure == 0;
        panel.series.push_back({filled ? points_[i].name : "",
                                filled ? Series::Style::kPoints : Series::Style::kHollow,
                                i,
                                {{x->value, y->value, y->low, y->high, ""}}});
      }
    }
    if (panel.series.empty()) panel.note = fmt::format("no point has both {} and {}", spec.x->title, spec.y[0].title);
    figure.panels = {panel};
    return figure;
  }

  Figure Bars(const FigureSpec& spec) const {
    Figure figure = Empty(spec, "Points side by side", spec.y.size());
    for (const MeasureSpec& measure : spec.y) {
      Panel panel;
      panel.title = measure.title;
      panel.y.label = WithUnit(measure);
      Series bars{"", Series::Style::kBars, figure.panels.size(), {}};
      bool any = false;
      for (size_t i = 0; i < points_.size(); ++i) {
        const auto value = scoring_.Value(i, measure);
        any |= value && std::isfinite(value->value);
        const double x = static_cast<double>(panel.x.categories.size());
        panel.x.categories.push_back(points_[i].name);
        bars.marks.push_back(value ? Datum{x, value->value, value->low, value->high, ""} : Datum{x, NAN, {}, {}, ""});
      }
      if (any) {
        panel.series = {bars};
      } else {
        panel.x.categories.clear();
        panel.note = fmt::format("{} was not measured", measure.title);
      }
      figure.panels.push_back(std::move(panel));
    }
    return figure;
  }

  Figure Curves(const FigureSpec& spec) const {
    Figure figure = Empty(spec, "Training curves", spec.curves.size());
    for (const auto& [name, against, path] : spec.curves) {
      Panel panel;
      panel.title = name;
      panel.x.label = AxisLabel(against);
      panel.y.label = name;
      panel.key = KeyPlace::kBottomRight;
      for (size_t i = 0; i < points_.size(); ++i) {
        Series line{points_[i].name, Series::Style::kCurve, i, Curve(points_[i], name, against)};
        if (!line.marks.empty()) panel.series.push_back(std::move(line));
      }
      DrawLevels(&panel.series);
      if (panel.series.empty()) panel.note = fmt::format("{} was not recorded", name);
      figure.panels.push_back(std::move(panel));
    }
    return figure;
  }

  Figure TableFigure(const FigureSpec& spec, const Table& results) const {
    Figure figure = Empty(spec, "Summary", 1);
    figure.width = 2 * kPanelWidth;
    figure.height = kTableHead + kTableRow * static_cast<int>(results.rows.size());
    Panel panel;
    TextTable table;
    for (const Column& column : results.columns) {
      if (column.in_text) table.header.push_back(column.title);
    }
    for (size_t r = 0; r < results.rows.size(); ++r) {
      const std::vector<Cell>& row = results.rows[r];
      std::vector<std::string> cells;
      for (size_t c = 0; c < row.size(); ++c) {
        if (!results.columns[c].in_text) continue;
        cells.push_back(FormatCell(row[c], results.columns[c]));
        if (IsBest(results, c, r, RivalsOf(r))) cells.back() += " *";
      }
      table.rows.push_back(std::move(cells));
    }
    table.emphasised = results.emphasised;
    if (std::any_of(table.rows.begin(), table.rows.end(), HasMark))
      table.note = "* best of its column, where less or more is better";
    panel.table = std::move(table);
    figure.panels = {panel};
    return figure;
  }

 private:
  // The other points on the same machine; a row of the results is a point.
  std::vector<size_t> RivalsOf(size_t point) const {
    std::vector<size_t> rivals;
    for (size_t i = 0; i < points_.size(); ++i)
      if (i != point && points_[i].group == points_[point].group) rivals.push_back(i);
    return rivals;
  }

  static std::string AxisLabel(const std::string& against) {
    if (const auto name = SumAxis(against)) return *name + " so far";
    return against == "time_s" ? "time [s]" : against == "iteration" ? "iteration" : "environment steps";
  }

  // Where each point of `curve` lies on the axis; nothing where the trial has no such axis.
  static std::vector<double> Places(const TrialData& trial, const std::vector<CurvePoint>& curve, const std::string& against) {
    const auto name = SumAxis(against);
    const auto other = name ? trial.curves.find(*name) : trial.curves.end();
    std::vector<double> places;
    if (name && other == trial.curves.end()) return places;
    double sum = 0;
    size_t summed = 0;
    for (const CurvePoint& point : curve) {
      for (; name && summed < other->second.size() && other->second[summed].iteration <= point.iteration; ++summed) {
        sum += other->second[summed].value;
      }
      places.push_back(name                     ? sum
                       : against == "time_s"    ? point.time_s
                       : against == "iteration" ? static_cast<double>(point.iteration)
                                                : point.env_steps);
    }
    return places;
  }

  // The mean over the seeds at each iteration.
  std::vector<Datum> Curve(const ComparedPoint& point, const std::string& name, const std::string& against) const {
    struct Sum {
      double x = 0, y = 0;
      size_t n = 0;
    };
    std::map<uint64_t, Sum> at;
    for (size_t trial : point.trials) {
      const TrialData& data = combined_.trials[trial].data;
      const auto found = data.curves.find(name);
      if (found == data.curves.end()) continue;
      const std::vector<double> places = Places(data, found->second, against);
      for (size_t i = 0; i < places.size(); ++i) {
        Sum& sum = at[found->second[i].iteration];
        sum.x += places[i];
        sum.y += found->second[i].value;
        ++sum.n;
      }
    }
    std::vector<Datum> marks;
    for (const auto& [iteration, sum] : at) {
      const double n = static_cast<double>(sum.n);
      marks.push_back({sum.x / n, sum.y / n, {}, {}, ""});
    }
    return marks;
  }

  const Combined& combined_;
  const std::vector<ComparedPoint>& points_;
  const Scoring scoring_;
};

}  // namespace

std::vector<Figure> ComparisonFigures(const Combined& combined, const std::vector<ComparedPoint>& points,
                                      const ComparisonSpec& spec, const Table& results) {
  const Drawer drawer(combined, points);
  std::vector<Figure> figures;
  for (const FigureSpec& figure : spec.figures) {
    switch (figure.kind) {
      case FigureSpec::Kind::kScatter: figures.push_back(drawer.Scatter(figure)); break;
      case FigureSpec::Kind::kBars: figures.push_back(drawer.Bars(figure)); break;
      case FigureSpec::Kind::kCurves: figures.push_back(drawer.Curves(figure)); break;
      case FigureSpec::Kind::kTable: figures.push_back(drawer.TableFigure(figure, results)); break;
    }
  }
  return figures;
}

}  // namespace backplane
