#include "kinds/figure_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text_columns.hpp"
#include "results/thin_series.hpp"
#include "text/utf8.hpp"

namespace backplane {

using nlohmann::json;

json RowOf(const std::string& panel, const char* kind, const std::string& name, const std::string& trials) {
  return {{"panel", panel}, {"kind", kind}, {"name", name}, {"trials", trials}};
}

std::string IdsOf(const Combined& combined, const std::vector<size_t>& trials) {
  std::string ids;
  for (const size_t trial : trials) {
    const TrialData& data = combined.trials[trial].data;
    if (data.usable()) ids += (ids.empty() ? "" : " ") + data.trial_id;
  }
  return ids;
}

std::vector<Single> SinglesOf(const Combined& combined, const std::vector<size_t>& trials, const std::string& measure) {
  std::vector<Single> singles;
  const TrialData* alone = nullptr;
  for (const size_t trial : trials) {
    const TrialData& data = combined.trials[trial].data;
    const Number* number = data.usable() ? data.Find(measure) : nullptr;
    if (number == nullptr) continue;
    alone = singles.empty() ? &data : nullptr;
    singles.push_back({number->value, fmt::format("seed {}", data.seed), data.trial_id});
  }
  if (alone == nullptr) return singles;
  singles.clear();
  const auto curve = alone->curves.find(measure);
  if (curve == alone->curves.end() || alone->Find(measure)->of != "iterations") return singles;
  for (const CurvePoint& point : curve->second)
    if (!point.warms_up) singles.push_back({point.value, fmt::format("iteration {}", point.iteration), alone->trial_id});
  return singles;
}

Number InRange(const Combined& combined, const std::vector<size_t>& trials, const std::string& measure, Number number) {
  if (measure != "return" && measure != "eval/return") return number;
  const auto known = std::ranges::find_if(trials, [&](size_t t) { return combined.trials[t].data.return_range.has_value(); });
  if (known == trials.end() || !number.low || !number.high) return number;
  const ReturnRange& range = *combined.trials[*known].data.return_range;
  number.low = std::max(*number.low, range.low.value_or(*number.low));
  number.high = std::min(*number.high, range.high.value_or(*number.high));
  return number;
}

void AddMean(const std::string& panel, const std::string& name, const std::string& trials, const Number& number, int digits,
             const std::vector<Single>& singles, const json& shared, Figure* figure) {
  if (!std::isfinite(number.value)) return;
  json row = RowOf(panel, "mean", name, trials);
  PutNumber(number, digits, &row);
  row.update(shared);
  figure->rows.push_back(std::move(row));
  for (const Single& single : singles) {
    json one = RowOf(panel, "one", name, single.trial);
    one["value"] = FiniteOrNull(single.value);
    one["of"] = single.of;
    one.update(shared);
    figure->rows.push_back(std::move(one));
  }
}

std::vector<std::string> FigureLabels(const std::vector<std::string>& names) {
  constexpr size_t kLongest = 56;
  std::vector<std::string> labels;
  for (const std::string& name : names) {
    std::string label = CutName(OneLine(name), kLongest, /*utf8=*/true);
    for (size_t number = 2; std::find(labels.begin(), labels.end(), label) != labels.end(); ++number)
      label = fmt::format("{} ({})", CutName(OneLine(name), kLongest, /*utf8=*/true), number);
    labels.push_back(std::move(label));
  }
  return labels;
}

RowLayout LayOutRows(const std::vector<std::string>& names, size_t panels) {
  constexpr double kFigure = 860, kLetter = 6.6, kGap = 40, kNarrowest = 220;  // pixels
  size_t longest = 0;
  for (const std::string& name : names) longest = std::max(longest, Columns(name));
  const double beside = kLetter * static_cast<double>(longest) + kGap;
  const auto width = [&](size_t columns) { return kFigure / static_cast<double>(columns) - beside; };
  const size_t columns = panels > 1 && width(2) >= kNarrowest ? 2 : 1;
  return {columns, std::max(width(columns), kNarrowest)};
}

std::vector<size_t> Thinned(const std::vector<double>& values) {
  std::vector<size_t> kept;
  if (values.size() <= ThinSeries::kMost) {
    for (size_t i = 0; i < values.size(); ++i) kept.push_back(i);
    return kept;
  }
  ThinSeries series;
  for (size_t i = 0; i < values.size(); ++i) series.Add(static_cast<double>(i), values[i]);
  for (const ThinSeries::Point& point : series.Points()) kept.push_back(static_cast<size_t>(point.x));
  return kept;
}

}  // namespace backplane
