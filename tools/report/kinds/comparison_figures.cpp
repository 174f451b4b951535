#include "kinds/comparison_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "figures/panels.hpp"
#include "kinds/figure_axes.hpp"
#include "kinds/figure_rows.hpp"
#include "kinds/host_measures.hpp"
#include "kinds/resource_figures.hpp"

namespace backplane {
namespace {

using nlohmann::json;

constexpr const char* kThing = "point";

// The title from the file, else words derived from the measure's name.
std::string TitleOf(const MeasureSpec& measure) {
  return measure.title == measure.expression.text() ? MeasureWords(measure.title) : measure.title;
}

std::string WithUnit(const MeasureSpec& measure) {
  const std::string title = TitleOf(measure);
  return measure.unit.empty() || measure.unit == "1/s" ? title : fmt::format("{} [{}]", title, measure.unit);
}

std::string Better(const MeasureSpec& measure) { return measure.direction > 0 ? "more is better" : "less is better"; }

std::vector<std::string> NamesOf(const std::vector<ComparedPoint>& points) {
  std::vector<std::string> names;
  for (const ComparedPoint& point : points) names.push_back(point.name);
  return FigureLabels(names);
}

bool IsOfCommand(const CombinedTrial& trial) { return trial.data.IsByCommand(); }

struct Place {
  double x = 0, y = 0;
};

class Drawer {
 public:
  Drawer(const ComparisonParts& parts, ComparisonFigures* made)
      : parts_(parts),
        combined_(parts.combined),
        points_(parts.points),
        names_(NamesOf(parts.points)),
        palette_("name", names_),
        of_commands_(std::ranges::all_of(combined_.trials, IsOfCommand)),
        made_(made) {}

  // Needs a baseline and a measure with a direction.
  void Gains() {
    Figure figure = Empty(kGainsFigure, "Against the baseline");
    figure.alt =
        "Each measure as a ratio to the baseline's, or minus the baseline's, with its 95 % interval; dots are single seeds.";
    std::vector<const MeasureSpec*> measures;
    for (const MeasureSpec& measure : parts_.columns)
      if (!measure.detail && measure.direction != 0) measures.push_back(&measure);
    std::vector<std::string> compared;
    for (size_t i = 0; i < points_.size(); ++i)
      if (BaselineOf(i) && *BaselineOf(i) != i) compared.push_back(names_[i]);
    const RowLayout layout = LayOutRows(compared, measures.size());
    for (const MeasureSpec* measure : measures) {
      const std::string title = fmt::format("{}: {}", TitleOf(*measure), Better(*measure));
      const size_t before = figure.rows.size();
      for (size_t i = 0; i < points_.size(); ++i) AddChange(title, *measure, i, &figure);
      if (figure.rows.size() == before) continue;
      const std::string unit = measure->unit.empty() ? "" : fmt::format(" [{}]", measure->unit);
      figure.panels.push_back(View(
          RatioPanel{{title, measure->in_ratios ? "times the baseline" : "difference from the baseline" + unit, "", kThing},
                     {layout.width, kRow},
                     compared,
                     measure->in_ratios ? 1.0 : 0.0},
          palette_));
    }
    figure.columns = std::min(layout.columns, std::max<size_t>(figure.panels.size(), 1));
    Keep(std::move(figure), "");
  }

  void Scatter(const FigureSpec& spec) {
    Figure figure = Empty(spec, fmt::format("{} against {}", TitleOf(spec.y[0]), TitleOf(*spec.x)));
    ScatterPanel panel{{figure.title, WithUnit(*spec.x), spec.y.size() > 1 ? TitleOf(spec.y[0]) : WithUnit(spec.y[0]), kThing}};
    for (size_t hollow = 1; hollow < spec.y.size(); ++hollow)
      panel.text.y += fmt::format("{} {}", hollow == 1 ? "; hollow:" : ",", TitleOf(spec.y[hollow]));
    panel.text.title = panel.text.y;
    for (size_t i = 0; i < points_.size(); ++i) {
      for (size_t measure = 0; measure < spec.y.size(); ++measure) AddSpot(panel.text.title, spec, measure, i, &figure);
    }
    if (!figure.rows.empty()) figure.panels.push_back(View(panel, palette_));
    Keep(std::move(figure), fmt::format("no point has both {} and {}", spec.x->title, spec.y[0].title));
  }

  void Bars(const FigureSpec& spec) {
    Figure figure = Empty(spec, "Points side by side");
    const RowLayout layout = LayOutRows(names_, spec.y.size());
    std::vector<std::string> without;
    for (const MeasureSpec& measure : spec.y) {
      const size_t before = figure.rows.size();
      for (size_t i = 0; i < points_.size(); ++i) {
        if (const auto value = parts_.scoring.Value(i, measure))
          AddMean(TitleOf(measure), names_[i], IdsOf(combined_, points_[i].trials), Cut(i, measure.expression.text(), *value),
                  measure.digits, Singles(i, measure), json::object(), &figure);
      }
      if (figure.rows.size() > before) {
        figure.panels.push_back(
            View(BarPanel{{TitleOf(measure), WithUnit(measure), "", kThing}, {layout.width, kRow}, names_, {}, {}}, palette_));
      } else {
        without.push_back(measure.title);
      }
    }
    figure.columns = std::min(layout.columns, std::max<size_t>(figure.panels.size(), 1));
    Keep(std::move(figure), fmt::format("{} was not measured", fmt::join(without, ", ")), !without.empty());
  }

  void Curves(const FigureSpec& spec) {
    Figure figure = Empty(spec, "Training curves");
    figure.alt =
        figure.title +
        ": lines are means over seeds, bands their 95 % intervals, thin lines single seeds. Curves of three or fewer seeds "
        "and panels with more than four curves have no bands.";
    std::vector<std::string> without;
    for (const CurveSpec& curve : spec.curves) {
      const size_t before = figure.rows.size();
      const std::string title = PanelOf(curve, spec);
      AddCurves(curve, title, &figure);
      if (figure.rows.size() == before) {
        without.push_back(curve.name);
        continue;
      }
      CurvePanel panel{{title, AxisLabel(curve.against, of_commands_), Of(curve.name), kThing}};
      if (spec.curves.size() == 1) panel.size = {760, 320};
      figure.panels.push_back(View(panel, palette_));
    }
    figure.columns = figure.panels.size() > 1 ? 2 : 1;
    figure.choices = json::array({Smoothing()});
    Keep(std::move(figure), fmt::format("{} was not recorded", fmt::join(without, ", ")), !without.empty());
  }

  void TableFigure(const FigureSpec& spec, const Table& results) {
    Figure figure = Empty(spec, "Summary");
    TablePanel table;
    table.title = spec.title.empty() ? results.title : spec.title;
    for (const Column& column : results.columns) {
      if (column.in_text)
        table.header.push_back(column.unit.empty() ? column.title : fmt::format("{} [{}]", column.title, column.unit));
    }
    bool any_best = false;
    const std::vector<std::vector<char>> eligible = EligibleCells(results);
    for (size_t r = 0; r < results.rows.size(); ++r) {
      std::vector<std::string> cells;
      for (size_t c = 0; c < results.rows[r].size(); ++c) {
        if (!results.columns[c].in_text) continue;
        cells.push_back(FormatCell(results.rows[r][c], results.columns[c]));
        if (!eligible[c][r] || !IsBest(results, c, r, RivalsOf(r, eligible[c]))) continue;
        cells.back() += " *";
        any_best = true;
      }
      table.rows.push_back(std::move(cells));
    }
    table.emphasised = results.emphasised;
    if (any_best) table.notes = {"* best of its column, where less or more is better"};
    figure.panels.push_back(View(table));
    Keep(std::move(figure), "");
  }

  void Resources() {
    std::vector<ResourceName> names;
    for (size_t i = 0; i < points_.size(); ++i) names.push_back({points_[i].name, names_[i], points_[i].trials});
    for (Figure& figure : ResourceFigures(combined_, names, palette_, palette_, kThing)) Keep(std::move(figure), "");
  }

 private:
  static constexpr double kRow = 24;

  Figure Empty(const std::string& name, const std::string& title) const {
    Figure figure;
    figure.name = name;
    figure.title = figure.alt = title;
    return figure;
  }
  Figure Empty(const FigureSpec& spec, const std::string& title) const {
    return Empty(spec.file.substr(0, spec.file.size() - std::string_view(".png").size()),
                 spec.title.empty() ? title : spec.title);
  }

  // `why`: the missing data of a figure; parts of it may be drawn nevertheless.
  void Keep(Figure figure, const std::string& why, bool says_why = false) {
    if ((figure.panels.empty() || says_why) && !why.empty())
      made_->left_out.push_back(
          fmt::format("{}: {}.", figure.panels.empty() ? "No figure " + figure.name : "In figure " + figure.name, why));
    if (!figure.panels.empty()) made_->figures.push_back(std::move(figure));
  }

  // By column and row, which is a point: whether all its runs have a finite value there. Columns of no measure are eligible.
  std::vector<std::vector<char>> EligibleCells(const Table& results) const {
    std::vector<std::vector<char>> eligible(results.columns.size(), std::vector<char>(points_.size(), 1));
    const size_t first = results.columns.size() > 1 && results.columns[1].key == "machine" ? 2 : 1;
    for (size_t m = 0; m < parts_.columns.size(); ++m)
      for (size_t i = 0; i < points_.size(); ++i)
        eligible[first + m][i] = parts_.scoring.Ineligible(i, parts_.columns[m]).empty() ? 1 : 0;
    return eligible;
  }

  // The other eligible points on the same machine.
  std::vector<size_t> RivalsOf(size_t point, const std::vector<char>& eligible) const {
    std::vector<size_t> rivals;
    for (size_t i = 0; i < points_.size(); ++i)
      if (i != point && points_[i].group == points_[point].group && eligible[i]) rivals.push_back(i);
    return rivals;
  }

  std::optional<size_t> BaselineOf(size_t point) const { return parts_.choices[points_[point].group].baseline; }

  // A curve may be shown twice, over different axes.
  std::string PanelOf(const CurveSpec& curve, const FigureSpec& spec) const {
    const auto same =
        std::count_if(spec.curves.begin(), spec.curves.end(), [&](const CurveSpec& other) { return other.name == curve.name; });
    const std::string name = MeasureWords(curve.name);
    return same > 1 ? fmt::format("{} over {}", name, AxisLabel(curve.against, of_commands_)) : name;
  }

  // Its name with the unit that its plugin registered.
  std::string Of(const std::string& curve) const {
    for (const CombinedTrial& trial : combined_.trials) {
      const auto said = trial.data.registered.find(curve);
      if (said != trial.data.registered.end() && !said->second.unit.empty())
        return fmt::format("{} [{}]", MeasureWords(curve), said->second.unit);
    }
    return MeasureWords(curve);
  }

  std::string TrialOfSeed(size_t point, uint64_t seed) const {
    for (const size_t trial : points_[point].trials)
      if (combined_.trials[trial].data.seed == seed) return combined_.trials[trial].data.trial_id;
    return "";
  }

  std::vector<Single> Singles(size_t point, const MeasureSpec& measure) const {
    const SeedScores scores = parts_.scoring.Scores(point, measure);
    if (scores.values.size() == 1)
      return measure.IsOneName() ? SinglesOf(combined_, points_[point].trials, measure.expression.text())
                                 : std::vector<Single>{};
    std::vector<Single> singles;
    for (size_t i = 0; i < scores.values.size(); ++i)
      singles.push_back({scores.values[i], fmt::format("seed {}", scores.seeds[i]), TrialOfSeed(point, scores.seeds[i])});
    return singles;
  }

  void AddChange(const std::string& title, const MeasureSpec& measure, size_t point, Figure* figure) const {
    const std::optional<size_t> baseline = BaselineOf(point);
    if (!baseline || *baseline == point) return;
    const auto base = parts_.scoring.Value(*baseline, measure), value = parts_.scoring.Value(point, measure);
    if (!base || !value) return;
    std::vector<Single> singles = Singles(point, measure);
    for (Single& single : singles) single.value = measure.in_ratios ? single.value / base->value : single.value - base->value;
    AddMean(title, names_[point], IdsOf(combined_, points_[point].trials),
            measure.in_ratios ? RatioOf(*value, *base) : DifferenceFrom(parts_, point, *baseline, measure), 3, singles,
            json::object(), figure);
  }

  void AddSpot(const std::string& title, const FigureSpec& spec, size_t measure, size_t point, Figure* figure) const {
    const auto x = parts_.scoring.Value(point, *spec.x), y = parts_.scoring.Value(point, spec.y[measure]);
    if (!x || !y || !std::isfinite(x->value) || !std::isfinite(y->value)) return;
    json row = RowOf(title, measure == 0 ? "mean" : "hollow", names_[point], IdsOf(combined_, points_[point].trials));
    PutNumber(Cut(point, spec.y[measure].expression.text(), *y), spec.y[measure].digits, &row);
    row["x"] = x->value;
    figure->rows.push_back(std::move(row));
    const SeedScores xs = parts_.scoring.Scores(point, *spec.x), ys = parts_.scoring.Scores(point, spec.y[measure]);
    for (size_t i = 0; ys.values.size() > 1 && i < ys.values.size(); ++i) {
      const auto same = std::find(xs.seeds.begin(), xs.seeds.end(), ys.seeds[i]);
      if (same == xs.seeds.end()) continue;
      json one = RowOf(title, "one", names_[point], TrialOfSeed(point, ys.seeds[i]));
      one.update({{"x", FiniteOrNull(xs.values[static_cast<size_t>(same - xs.seeds.begin())])},
                  {"value", FiniteOrNull(ys.values[i])},
                  {"of", fmt::format("seed {}", ys.seeds[i])}});
      figure->rows.push_back(std::move(one));
    }
  }

  void AddCurves(const CurveSpec& curve, const std::string& panel, Figure* figure) const {
    std::vector<std::vector<std::pair<Place, Number>>> means;
    size_t longest = 0, lines = 0;
    for (const ComparedPoint& point : points_) {
      means.push_back(MeanCurve(point, curve));
      longest = std::max(longest, means.back().size());
      lines += means.back().empty() ? 0 : 1;
    }
    for (size_t i = 0; i < points_.size(); ++i) {
      if (means[i].size() == 1) {  // as of a point that learns nothing: a level for the others
        json row = RowOf(panel, longest > 1 ? "level" : "spot", names_[i], IdsOf(combined_, points_[i].trials));
        PutNumber(means[i][0].second, 4, &row);
        row["x"] = means[i][0].first.x;
        figure->rows.push_back(std::move(row));
        continue;
      }
      const size_t seeds = SeedsOf(points_[i], curve);
      const bool are_few = seeds <= kMostThinLines, may_fill = lines <= kMostFilled;
      AddLine(curve.name, panel, i, means[i], may_fill && !are_few, figure);
      if (seeds > 1 && (may_fill || are_few)) AddSeeds(curve, panel, i, figure);
    }
  }

  size_t SeedsOf(const ComparedPoint& point, const CurveSpec& curve) const {
    return static_cast<size_t>(std::ranges::count_if(
        point.trials, [&](size_t trial) { return combined_.trials[trial].data.curves.contains(curve.name); }));
  }

  Number Cut(size_t point, const std::string& measure, const Number& number) const {
    return InRange(combined_, points_[point].trials, measure, number);
  }

  void AddLine(const std::string& curve, const std::string& panel, size_t point,
               const std::vector<std::pair<Place, Number>>& mean, bool is_filled, Figure* figure) const {
    std::vector<double> values;
    for (const auto& [place, number] : mean) values.push_back(place.y);
    for (const size_t at : Thinned(values)) {
      const Place& place = mean[at].first;
      const Number number = Cut(point, curve, mean[at].second);
      json row = RowOf(panel, "mean", names_[point], IdsOf(combined_, points_[point].trials));
      row.update({{"x", place.x},
                  {"value", FiniteOrNull(place.y)},
                  {"n", fmt::format("{} {}", number.n, number.n == 1 ? "seed" : "seeds")},
                  {"interval", ""}});
      if (number.low && number.high) row["interval"] = fmt::format("{:.4g} to {:.4g}", *number.low, *number.high);
      if (number.low && number.high && is_filled)
        row.update({{"low", FiniteOrNull(*number.low)}, {"high", FiniteOrNull(*number.high)}});
      figure->rows.push_back(std::move(row));
    }
  }

  void AddSeeds(const CurveSpec& curve, const std::string& panel, size_t point, Figure* figure) const {
    for (const size_t trial : points_[point].trials) {
      const TrialData& data = combined_.trials[trial].data;
      const auto found = data.curves.find(curve.name);
      if (found == data.curves.end()) continue;
      const std::vector<double> places = Places(data, found->second, curve.against);
      std::vector<double> values;
      for (size_t i = 0; i < places.size(); ++i) values.push_back(found->second[i].value);
      for (const size_t at : Thinned(values)) {
        json row = RowOf(panel, "one", names_[point], data.trial_id);
        row.update({{"x", places[at]}, {"value", FiniteOrNull(values[at])}, {"of", fmt::format("seed {}", data.seed)}});
        figure->rows.push_back(std::move(row));
      }
    }
  }

  // Over the seeds at each iteration.
  std::vector<std::pair<Place, Number>> MeanCurve(const ComparedPoint& point, const CurveSpec& curve) const {
    struct At {
      std::vector<double> xs, ys;
    };
    std::map<uint64_t, At> at;
    for (const size_t trial : point.trials) {
      const TrialData& data = combined_.trials[trial].data;
      const auto found = data.curves.find(curve.name);
      if (found == data.curves.end()) continue;
      const std::vector<double> places = Places(data, found->second, curve.against);
      // A command may report one step in several lines, and differently per seed: count steps, not lines.
      const bool by_steps = curve.against == "env_steps" && IsOfCommand(combined_.trials[trial]);
      uint64_t steps = 0;
      for (size_t i = 0; i < places.size(); ++i) {
        if (by_steps && i > 0 && places[i] == places[i - 1]) {
          at[steps].ys.back() = found->second[i].value;
          continue;
        }
        At& here = at[by_steps ? ++steps : found->second[i].iteration];
        here.xs.push_back(places[i]);
        here.ys.push_back(found->second[i].value);
      }
    }
    std::vector<std::pair<Place, Number>> mean;
    for (const auto& [iteration, here] : at) {
      const Number number = Mean(here.ys, "seeds");
      mean.push_back({{Mean(here.xs, "seeds").value, number.value}, number});
    }
    return mean;
  }

  const ComparisonParts& parts_;
  const Combined& combined_;
  const std::vector<ComparedPoint>& points_;
  const std::vector<std::string> names_;
  const Palette palette_;
  const bool of_commands_;
  ComparisonFigures* made_;
};

}  // namespace

ComparisonFigures MakeComparisonFigures(const ComparisonParts& parts, const Table& results) {
  ComparisonFigures made;
  Drawer drawer(parts, &made);
  drawer.Gains();
  for (const FigureSpec& figure : parts.spec.figures) {
    switch (figure.kind) {
      case FigureSpec::Kind::kScatter: drawer.Scatter(figure); break;
      case FigureSpec::Kind::kBars: drawer.Bars(figure); break;
      case FigureSpec::Kind::kCurves: drawer.Curves(figure); break;
      case FigureSpec::Kind::kTable: drawer.TableFigure(figure, results); break;
    }
  }
  drawer.Resources();
  return made;
}

}  // namespace backplane
