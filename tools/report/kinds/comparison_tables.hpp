// The tables of a comparison.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kinds/comparison_choice.hpp"
#include "kinds/comparison_points.hpp"
#include "kinds/comparison_scores.hpp"
#include "kinds/comparison_spec.hpp"
#include "kinds/question.hpp"
#include "render/document.hpp"

namespace backplane {

// What a comparison has found out before its tables are made; all of it outlives them.
struct ComparisonParts {
  const Combined& combined;
  const std::vector<ComparedPoint>& points;
  const ComparisonSpec& spec;
  const std::vector<MeasureSpec>& columns;  // those of the spec that are shown
  const std::vector<GroupChoice>& choices;  // of each group
  const Question& question;
  Scoring scoring = {combined, points};
};

// Whether a column has a name in it that the host or a sampler of resources measures where there is something to measure, and
// no trial had: no GPU, say. The results' notes tell such names.
bool IsLeftOut(const MeasureSpec& column, const Combined& combined);

// "results": a row for each point.
Table ComparisonResults(const ComparisonParts& parts);
// The point's mean minus the baseline's, with Welch's interval. Both have a value.
Number DifferenceFrom(const ComparisonParts& parts, size_t point, size_t baseline, const MeasureSpec& measure);

// "change": ratios to the baseline of the same group, or differences. Absent if there is none, or no other point.
std::optional<Table> ComparisonChanges(const ComparisonParts& parts);

// "improvement": the same in words, a row for each other point and each measure: how much better or worse than the baseline.
std::optional<Table> ComparisonImprovements(const ComparisonParts& parts);

}  // namespace backplane
