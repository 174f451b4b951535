// The answer of a comparison in one sentence.
#pragma once

#include <string>

#include "kinds/comparison_tables.hpp"

namespace backplane {

// Against a baseline: what each point gains, by the measure that selects, else the first column. Without one: the best point,
// and who is not distinguishable from it.
std::string ComparisonHeadline(const ComparisonParts& parts);

// "a (1 of 3 runs diverged), b (2 of 3 runs failed)"; empty: no point is excluded.
std::string ExcludedText(const ComparisonParts& parts, const std::vector<ExcludedPoint>& excluded);

// How sure the choice of a point is among those of its group: "; not distinguishable from a, b (n = 5 seeds)".
std::string RivalsOf(const ComparisonParts& parts, size_t chosen, const MeasureSpec& measure);

}  // namespace backplane
