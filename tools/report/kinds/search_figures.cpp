#include "kinds/search_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "figures/search_panels.hpp"
#include "kinds/figure_rows.hpp"
#include "text/format_number.hpp"

namespace backplane {
namespace {

using nlohmann::json;

constexpr size_t kMostStepRows = 3000;
constexpr double kDay_s = 86400, kHour_s = 3600, kMinute_s = 60;

// Those that there are; each has the same colour in every search.
Palette StatePalette(const Study& study) {
  constexpr std::pair<StudyState, const char*> kColours[] = {{StudyState::kComplete, "#0072B2"},
                                                             {StudyState::kPruned, "#E69F00"},
                                                             {StudyState::kRunning, "#009E73"},
                                                             {StudyState::kFailed, "#D55E00"},
                                                             {StudyState::kWaiting, "#56B4E9"}};
  std::vector<std::string> names, colours;
  for (const auto& [state, colour] : kColours) {
    if (study.Count(state) == 0) continue;
    names.emplace_back(Word(state));
    colours.emplace_back(colour);
  }
  return {"state", std::move(names), std::move(colours)};
}

// Some paths contain characters that field names may not have.
std::string FieldOf(const SearchParts& parts, const SearchedOption& option) { return Identifier(parts.names.at(option.path)); }

json RowOfTrial(const SearchParts& parts, const std::string& panel, const char* kind, const StudyTrial& trial) {
  json row = RowOf(panel, kind, NumberName(trial), fmt::format("{}", fmt::join(trial.trials, " ")));
  row["state"] = Word(trial.state);
  row["value"] = trial.Latest() ? FiniteOrNull(*trial.Latest()) : json();
  row["shown"] = trial.Latest() ? parts.Value(*trial.Latest()) : std::string("none");
  return row;
}

std::string AxisOf(const SearchParts& parts) {
  const MeasureSpec& metric = parts.metric;
  return metric.unit.empty() ? metric.title : fmt::format("{} [{}]", metric.title, metric.unit);
}

struct TimeUnit {
  double seconds;
  const char* name;
};
TimeUnit UnitOf(double span_s) {
  if (span_s > 3 * kDay_s) return {kDay_s, "days"};
  if (span_s > 3 * kHour_s) return {kHour_s, "hours"};
  return span_s > 3 * kMinute_s ? TimeUnit{kMinute_s, "minutes"} : TimeUnit{1, "seconds"};
}

// The trials that have begun, in the order in which they count along the axis.
void AddBestSoFar(const SearchParts& parts, const std::string& panel, std::vector<std::pair<double, const StudyTrial*>> along,
                  Figure* figure) {
  std::stable_sort(along.begin(), along.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::optional<double> best, lowest;
  for (const auto& [x, trial] : along)
    if (trial->Latest()) lowest = std::min(lowest.value_or(*trial->Latest()), *trial->Latest());
  const auto step = [&](double x) {
    json row = RowOf(panel, "best", "best so far", "");
    row["x"] = x;
    row["value"] = *best;
    figure->rows.push_back(std::move(row));
  };
  for (const auto& [x, trial] : along) {
    json row = RowOfTrial(parts, panel, "trial", *trial);
    row["x"] = x;
    row["place"] = trial->Latest().value_or(*lowest);
    for (const SearchedOption& option : parts.study.space)
      if (trial->params.contains(option.path))
        row[FieldOf(parts, option)] = parts.Said(option.path, trial->params.at(option.path));
    figure->rows.push_back(std::move(row));
    const bool better = trial->state == StudyState::kComplete && (!best || parts.study.IsBetter(*trial->value, *best));
    if (!better) continue;
    best = trial->value;
    step(x);
  }
  if (best) step(along.back().first);
}

// The ends of an axis, or its choices.
std::vector<std::pair<double, std::string>> TicksOf(const SearchParts& parts, const SearchedOption& option) {
  std::vector<std::pair<double, std::string>> ticks;
  if (option.is_choice()) {
    for (const json& choice : option.choices) ticks.emplace_back(*option.PlaceOf(choice), parts.Said(option.path, choice));
    return ticks;
  }
  for (const double place : {0.0, 0.5, 1.0}) {
    double value =
        option.log ? option.low * std::pow(option.high / option.low, place) : option.low + (option.high - option.low) * place;
    if (option.whole) value = std::round(value);
    ticks.emplace_back(option.PlaceOf(value).value_or(place), FormatNumber(Reading(value), place == 0.5 ? 2 : 3));
    if (option.low == option.high) break;
  }
  return ticks;
}

struct Range {
  double low = 0, high = 0;
  double PlaceOf(double value) const { return low == high ? 0.5 : std::clamp((value - low) / (high - low), 0.0, 1.0); }
};

// The share of complete trials that are at least as good.
double StandingOf(const Study& study, double value) {
  size_t all = 0, better = 0;
  for (const StudyTrial& trial : study.trials) {
    if (trial.state != StudyState::kComplete) continue;
    ++all;
    better += study.IsBetter(*trial.value, value) ? 1 : 0;
  }
  return all == 0 ? 1 : std::min(1.0, static_cast<double>(better + 1) / static_cast<double>(all));
}

}  // namespace

std::optional<Figure> BestSoFarFigure(const SearchParts& parts) {
  const Study& study = parts.study;
  std::vector<std::pair<double, const StudyTrial*>> by_number, by_time;
  double first = 0, last = 0;
  bool any = false;
  for (const StudyTrial& trial : study.trials) {
    if (trial.started == 0 || trial.point_id.empty()) continue;
    any |= trial.Latest().has_value();
    first = first == 0 ? trial.started : std::min(first, trial.started);
    last = std::max({last, trial.started, trial.ended.value_or(0)});
    by_number.emplace_back(static_cast<double>(trial.number), &trial);
  }
  if (!any) return std::nullopt;
  const TimeUnit unit = UnitOf(last - first);
  for (const auto& [x, trial] : by_number) by_time.emplace_back((trial->ended.value_or(last) - first) / unit.seconds, trial);
  Figure figure;
  figure.name = kBestSoFar;
  figure.title = "Best so far, and each trial";
  figure.alt = fmt::format(
      "{}: the line is the best {} of the complete trials so far. Each point is a trial; pruned and running trials show "
      "their last value.",
      figure.title, parts.metric.title);
  figure.columns = 2;
  TrialsPanel panel{.text = {"By number", "number of the suggestion", AxisOf(parts), "trial"}, .facts = {}};
  for (const SearchedOption& option : study.space)
    panel.facts.emplace_back(FieldOf(parts, option), parts.names.at(option.path));
  AddBestSoFar(parts, panel.text.title, by_number, &figure);
  figure.panels.push_back(View(panel, StatePalette(parts.study)));
  panel.text = {"Over time", fmt::format("{} since the first suggestion", unit.name), AxisOf(parts), "trial"};
  AddBestSoFar(parts, panel.text.title, by_time, &figure);
  figure.panels.push_back(View(panel, StatePalette(parts.study)));
  return figure;
}

std::optional<Figure> ImportanceFigure(const SearchParts& parts, const std::vector<OptionImportance>& importances) {
  if (importances.empty()) return std::nullopt;
  Figure figure;
  figure.name = kImportance;
  figure.title = "Effect of each option by itself";
  figure.alt =
      "Importance of each option: the share of the variance of the trials' ranks that the option explains. An option without "
      "effect exceeds its tick in 1 of 20 cases.";
  std::vector<std::string> names;
  for (const OptionImportance& one : importances) names.push_back(parts.names.at(one.path));
  names = FigureLabels(names);
  const std::string panel = "Importance";
  for (size_t i = 0; i < importances.size(); ++i) {
    const OptionImportance& one = importances[i];
    json row = RowOf(panel, "mean", names[i], "");
    PutNumber(Reading(100 * one.explained.share), 2, &row);
    row["n"] = fmt::format("{} complete trials", one.trials);
    row["max"] = 100 * one.explained.by_chance;
    figure.rows.push_back(std::move(row));
  }
  const RowLayout layout = LayOutRows(names, 1);
  BarPanel bars{{panel, "% of rank variance (tick: by chance)", "", "option"}, {layout.width, 24}, names, 100, {}};
  figure.panels.push_back(View(bars, Palette("name", names, {"#0072B2"})));
  return figure;
}

namespace {

// Trials that have ended with a score.
std::vector<const StudyTrial*> ScoredTrials(const Study& study) {
  std::vector<const StudyTrial*> scored;
  for (const StudyTrial& trial : study.trials) {
    const bool ended = trial.state == StudyState::kComplete || trial.state == StudyState::kPruned;
    if (ended && trial.Latest()) scored.push_back(&trial);
  }
  return scored;
}

// An axis for each option, and one for the score.
ParallelPanel PanelOfOptions(const SearchParts& parts, const Range& range) {
  ParallelPanel panel{.text = {"A line for each trial", "", AxisOf(parts), "trial"}, .axes = {}};
  for (const SearchedOption& option : parts.study.space)
    panel.axes.push_back({parts.names.at(option.path), TicksOf(parts, option)});
  panel.axes.push_back({parts.metric.title, {{0, parts.Value(range.low)}, {1, parts.Value(range.high)}}});
  if (range.low == range.high) panel.axes.back().ticks = {{0.5, parts.Value(range.low)}};
  return panel;
}

}  // namespace

std::optional<Figure> ParallelFigure(const SearchParts& parts) {
  const Study& study = parts.study;
  const std::vector<const StudyTrial*> shown = ScoredTrials(study);
  if (shown.empty() || study.space.size() < 2) return std::nullopt;
  Range range{*shown.front()->Latest(), *shown.front()->Latest()};
  for (const StudyTrial* trial : shown) range = {std::min(range.low, *trial->Latest()), std::max(range.high, *trial->Latest())};
  Figure figure;
  figure.name = kParallel;
  figure.title = "Settings and their scores";
  figure.alt =
      "Parallel coordinates: one line per trial, through its options to its score. Lighter lines are worse, dashed ones were "
      "pruned, the thick one is the best.";
  figure.choices = json::array({Emphasis()});
  const ParallelPanel panel = PanelOfOptions(parts, range);
  const StudyTrial* best = parts.Best();
  for (const StudyTrial* trial : shown) {
    const char* kind = trial == best ? "best" : Word(trial->state);
    const auto add = [&](size_t axis, double place, const std::string& said) {
      json row = RowOfTrial(parts, panel.text.title, kind, *trial);
      row.update({{"x", axis},
                  {"place", place},
                  {"axis", panel.axes[axis].title},
                  {"said", said},
                  {"settings", parts.Setting(*trial)},
                  {"standing", StandingOf(study, *trial->Latest())}});
      figure.rows.push_back(std::move(row));
    };
    for (size_t i = 0; i < study.space.size(); ++i) {
      const auto value = trial->params.find(study.space[i].path);
      const std::optional<double> place = value == trial->params.end() ? std::nullopt : study.space[i].PlaceOf(*value);
      if (place) add(i, *place, parts.Said(study.space[i].path, *value));
    }
    add(study.space.size(), range.PlaceOf(*trial->Latest()), parts.Value(*trial->Latest()));
  }
  figure.panels.push_back(View(panel));
  return figure;
}

std::optional<Figure> IntermediateFigure(const SearchParts& parts) {
  size_t lines = 0;
  for (const StudyTrial& trial : parts.study.trials) lines += trial.steps.size() > 1 ? 1 : 0;
  if (lines == 0) return std::nullopt;
  const size_t most = std::max<size_t>(8, kMostStepRows / lines);
  Figure figure;
  figure.name = kIntermediate;
  figure.title = "The objective while trials ran";
  figure.alt = fmt::format("{}: one line per trial, drawn by its outcome; the best is thick.", figure.title);
  const StepsPanel panel{.text = {"Intermediate values", "iteration", AxisOf(parts), "trial"}};
  const StudyTrial* best = parts.Best();
  for (const StudyTrial& trial : parts.study.trials) {
    const size_t stride = (trial.steps.size() + most - 1) / most;
    for (size_t i = 0; i < trial.steps.size(); ++i) {
      const bool last = i + 1 == trial.steps.size();
      if (i % stride != 0 && !last) continue;
      for (const char* kind : {&trial == best ? "best step" : "step", "end"}) {
        if (std::string_view(kind) == "end" && !last) continue;
        json row = RowOf(panel.text.title, kind, NumberName(trial), "");
        row.update({{"state", Word(trial.state)},
                    {"x", trial.steps[i].first},
                    {"value", trial.steps[i].second},
                    {"settings", parts.Setting(trial)}});
        figure.rows.push_back(std::move(row));
      }
    }
  }
  figure.panels.push_back(View(panel, StatePalette(parts.study)));
  return figure;
}

std::vector<Figure> SearchFigures(const SearchParts& parts, const std::vector<OptionImportance>& importances) {
  std::vector<Figure> figures;
  for (std::optional<Figure> figure :
       {BestSoFarFigure(parts), ImportanceFigure(parts, importances), ParallelFigure(parts), IntermediateFigure(parts)})
    if (figure) figures.push_back(std::move(*figure));
  return figures;
}

}  // namespace backplane
