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

// The findings of a comparison, input to its tables. All referenced objects outlive the tables.
struct ComparisonParts {
  const Combined& combined;
  const std::vector<ComparedPoint>& points;
  const ComparisonSpec& spec;
  const std::vector<MeasureSpec>& columns;  // the shown columns of the spec
  const std::vector<GroupChoice>& choices;  // per group
  const Question& question;
  Scoring scoring = {combined, points};
};

// True if no trial could take a measure of the host or of a resource sampler in this column, for example without a GPU. The
// notes of the results list such names.
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
