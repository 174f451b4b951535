// The answer of a comparison in one sentence.
#pragma once

#include <string>

#include "kinds/comparison_tables.hpp"
#include "kinds/report_context.hpp"

namespace backplane {

// Answers by the measure of the question. Against a baseline: the points with a verdict and their gains, then the number of
// points with each verdict. Without a baseline: the best point, and the points that it is not shown to be better than. Counts
// the runs without a finite score.
std::string ComparisonHeadline(const ComparisonParts& parts);

// The headline of the report of these results, without the rest of it.
std::string ComparisonSentence(const std::vector<ResultSet>& sets, const ReportContext& context);

// The selected point, else the best eligible one by the measure of the question, which must exist. Absent: none is eligible.
std::optional<size_t> BestOfGroup(const ComparisonParts& parts, size_t group);

// "a (1 of 3 runs diverged), b (2 of 3 runs failed)"; empty: no point is excluded.
std::string ExcludedText(const ComparisonParts& parts, const std::vector<ExcludedPoint>& excluded);

// The uncertainty of a choice within its group: "; not shown to be better than a (348 ± 134), b (313 ± 183); 5 seeds each".
std::string RivalsOf(const ComparisonParts& parts, size_t chosen, const MeasureSpec& measure);

}  // namespace backplane
