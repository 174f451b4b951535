#include "kinds/change.hpp"

#include <algorithm>

#include "kinds/comparison_scores.hpp"
#include "kinds/figure_rows.hpp"

namespace backplane {

bool MayBeRatios(const Number& base, const std::vector<double>& values) {
  return base.value > 0 && base.low.value_or(base.value) > 0 && std::ranges::all_of(values, [](double v) { return !(v <= 0); });
}

bool ShowsRatios(const Combined& combined, const std::vector<ComparedPoint>& points, const std::vector<GroupChoice>& choices,
                 const MeasureSpec& measure) {
  const Scoring scoring(combined, points);
  bool any = false;
  for (size_t i = 0; i < points.size(); ++i) {
    const std::optional<size_t> baseline = choices[points[i].group].baseline;
    const std::optional<Number> base = baseline ? scoring.Value(*baseline, measure) : std::nullopt;
    if (!base) continue;
    any = true;
    std::vector<double> values = scoring.Scores(i, measure).values;
    // A figure draws the iterations of a single seed, too.
    if (values.size() == 1 && measure.IsOneName())
      for (const Single& one : SinglesOf(combined, points[i].trials, measure.expression.text())) values.push_back(one.value);
    if (!MayBeRatios(*base, values)) return false;
  }
  return any;
}

Number PercentChange(const Number& value, const Number& base) {
  Number change = RatioOf(value, base, 100);
  for (double* part : {&change.value, change.low ? &*change.low : nullptr, change.high ? &*change.high : nullptr})
    if (part) *part -= 100;
  return change;
}

}  // namespace backplane
