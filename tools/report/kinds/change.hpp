// Changes against a baseline: ratios if these mean something, else differences in the measure's unit.
#pragma once

#include <vector>

#include "kinds/comparison_choice.hpp"
#include "kinds/comparison_points.hpp"
#include "kinds/comparison_spec.hpp"
#include "text/number.hpp"

namespace backplane {

// True if the baseline's interval and all values are above zero. Its interval is that over seeds, else over iterations. Values
// that are not finite do not count.
bool MayBeRatios(const Number& base, const std::vector<double>& values);

// Applies the rule to every point with a baseline. Figures, tables and sentences of a measure then show the same kind of
// change.
bool ShowsRatios(const Combined& combined, const std::vector<ComparedPoint>& points, const std::vector<GroupChoice>& choices,
                 const MeasureSpec& measure);

// 100 x (value / base - 1), with the interval of RatioOf.
Number PercentChange(const Number& value, const Number& base);

}  // namespace backplane
