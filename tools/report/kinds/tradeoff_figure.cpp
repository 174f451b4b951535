#include "kinds/tradeoff_figure.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "figures/panels.hpp"
#include "kinds/figure_rows.hpp"
#include "kinds/setting_text.hpp"

namespace backplane {
namespace {

using nlohmann::json;

const char* const kOnFront = "on the front";
const char* const kBeaten = "not on the front";

// A value that is traded against speed.
struct Traded {
  const char* title;
  const char* axis;
  const char* words;
  bool less_is_better;
  std::optional<double> (*value)(const Setting& setting, const Combined& combined);
};
constexpr Traded kTraded[] = {
    {"Speed and efficiency", "parallel efficiency [%]", "efficiency", false,
     [](const Setting& setting, const Combined&) { return setting.efficiency_pct; }},
    {"Speed and memory", "peak memory [MiB]", "memory", true,
     [](const Setting& setting, const Combined& combined) { return PeakOf(combined, setting.trials, "rss_peak_mb"); }},
    {"Speed and return", "mean episode return", "return", false,
     [](const Setting& setting, const Combined&) {
       return setting.episode_return ? std::optional(setting.episode_return->value) : std::nullopt;
     }},
};

// The settings of one series that have both values. Other series have other baselines or machines.
struct TradedSeries {
  size_t series = 0;
  std::vector<const Setting*> settings;
  std::vector<TradeOffPoint> points;
  std::vector<size_t> front;  // indices into the two
};

std::vector<TradedSeries> SeriesOf(const Traded& traded, const Combined& combined, const ParallelEfficiency& analysis) {
  std::vector<TradedSeries> all;
  for (size_t series = 0; series < analysis.series.size(); ++series) {
    TradedSeries own{series, {}, {}, {}};
    for (const Setting& setting : analysis.settings) {
      const std::optional<double> x = traded.value(setting, combined);
      if (setting.series != series || !setting.sps || !x || !std::isfinite(*x) || !std::isfinite(setting.sps->value)) continue;
      own.settings.push_back(&setting);
      own.points.push_back({*x, setting.sps->value});
    }
    own.front = ParetoFront(own.points, traded.less_is_better);
    if (!own.settings.empty()) all.push_back(std::move(own));
  }
  return all;
}

bool HasTwo(const std::vector<TradedSeries>& all) {
  size_t settings = 0;
  for (const TradedSeries& one : all) settings += one.settings.size();
  return settings > 1;
}

// "best for throughput, efficiency"; empty: not recommended.
std::string GoalsOf(const Setting& setting, const ParallelEfficiency& analysis) {
  std::vector<std::string> goals;
  for (const Recommendation& advice : analysis.recommendations[setting.series])
    if (advice.setting && &analysis.settings[*advice.setting] == &setting) goals.push_back(advice.goal);
  return goals.empty() ? "" : fmt::format("best for {}", fmt::join(goals, ", "));
}

void AddPoint(const Traded& traded, const TradedSeries& own, size_t i, const Combined& combined,
              const ParallelEfficiency& analysis, Figure* figure) {
  const Setting& setting = *own.settings[i];
  const std::string goals = GoalsOf(setting, analysis);
  const bool on_front = std::ranges::find(own.front, i) != own.front.end();
  const json shared = {{"x", own.points[i].x}, {"series", !goals.empty() ? goals : on_front ? kOnFront : kBeaten}};
  AddMean(traded.title, SettingText(setting, analysis), IdsOf(combined, setting.trials), *setting.sps, 4, {}, shared, figure);
}

// Each set of goals that a setting has, then the other two kinds of points.
Palette PaletteOf(const ParallelEfficiency& analysis) {
  std::vector<std::string> names, colours = {"#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"};
  for (const Setting& setting : analysis.settings) {
    const std::string goals = GoalsOf(setting, analysis);
    if (!goals.empty() && std::ranges::find(names, goals) == names.end()) names.push_back(goals);
  }
  colours.resize(names.size(), colours.front());
  names.insert(names.end(), {kOnFront, kBeaten});
  colours.insert(colours.end(), {"#0072B2", "#999999"});
  return {"series", names, colours};
}

// Adds nothing if only one setting has the value.
void AddPanel(const Traded& traded, const Combined& combined, const ParallelEfficiency& analysis, const Palette& palette,
              Figure* figure) {
  const std::vector<TradedSeries> all = SeriesOf(traded, combined, analysis);
  if (!HasTwo(all)) return;
  for (const TradedSeries& own : all) {
    for (size_t i = 0; i < own.settings.size(); ++i) AddPoint(traded, own, i, combined, analysis, figure);
    for (const size_t i : own.front) {
      json row = RowOf(traded.title, "front", SettingText(*own.settings[i], analysis), "");
      row.update({{"x", own.points[i].x}, {"value", own.points[i].speed}, {"of", fmt::format("series {}", own.series + 1)}});
      figure->rows.push_back(std::move(row));
    }
  }
  figure->panels.push_back(View(TradeOffPanel{{traded.title, traded.axis, "steps per second", "setting"}}, palette));
}

}  // namespace

std::vector<size_t> ParetoFront(const std::vector<TradeOffPoint>& points, bool less_is_better) {
  std::vector<size_t> front;
  const auto at_least = [&](double a, double b) { return less_is_better ? a <= b : a >= b; };
  for (size_t i = 0; i < points.size(); ++i) {
    const TradeOffPoint& own = points[i];
    const bool beaten = std::ranges::any_of(points, [&](const TradeOffPoint& other) {
      return at_least(other.x, own.x) && other.speed >= own.speed && (other.x != own.x || other.speed != own.speed);
    });
    if (!beaten) front.push_back(i);
  }
  std::ranges::sort(front, {}, [&](size_t i) { return points[i].x; });
  return front;
}

std::optional<Figure> TradeOffFigure(const Combined& combined, const ParallelEfficiency& analysis) {
  Figure figure;
  figure.name = kTradeOffFigure;
  figure.title = fmt::format("Trade-offs: {}", fmt::join(combined.experiments, ", "));
  figure.alt =
      "Speed against efficiency, peak memory and return, one point per setting. Dashed lines are the Pareto fronts: no other "
      "setting is better than these in both values. The legend names the goals of recommended settings; whiskers are 95 % "
      "intervals of the speed.";
  figure.columns = 3;
  const Palette palette = PaletteOf(analysis);
  for (const Traded& traded : kTraded) AddPanel(traded, combined, analysis, palette, &figure);
  return figure.panels.empty() ? std::nullopt : std::optional(std::move(figure));
}

std::vector<std::string> TradeOffNotes(const Combined& combined, const ParallelEfficiency& analysis) {
  std::vector<std::string> notes;
  for (const Traded& traded : kTraded) {
    const std::vector<TradedSeries> all = SeriesOf(traded, combined, analysis);
    if (!HasTwo(all)) continue;
    std::vector<std::string> names;
    for (const TradedSeries& own : all)
      for (const size_t i : own.front) names.push_back(SettingText(*own.settings[i], analysis));
    notes.push_back(fmt::format("Pareto front of speed and {}, by means: {}.", traded.words, fmt::join(names, ", ")));
  }
  return notes;
}

}  // namespace backplane
