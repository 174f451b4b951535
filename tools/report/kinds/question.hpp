// The question that an experiment file asks: by which measure the first sentence of its report answers.
#pragma once

#include <optional>
#include <vector>

#include "kinds/comparison_spec.hpp"
#include "record/report_section.hpp"
#include "results/combine.hpp"

namespace backplane {

struct Question {
  std::optional<MeasureSpec> measure;  // absent: no measure can decide
  bool has_best = true;                // false for the returns of random actions

  // True for a speed or a time, which other programs on the machine change.
  bool IsTimed() const;
};

// The measure that the file names: in report.select, as the objective of a search, or as the metric of a comparison.
std::optional<MeasureSpec> NamedMeasure(const std::vector<ResultSet>& sets, const ComparisonSpec& spec);

// The direction of a measure, by any part of the file that gives it: `report.select`, the objective of a search, the metric of
// a comparison, or a column. 1 up is better, -1 down, 0 unknown.
int DirectionInFile(const std::string& measure, const ReportSection& report, const std::vector<ResultSet>& sets = {});

// False if the file alone shows that speed, or a measure of its own choice, decides.
bool AsksForReturn(const std::vector<ResultSet>& sets, const ReportSection& report);

// The named measure; else speed if the report is about speed; else the steps to the goal of budget.until; else the return of
// the evaluation, else of the training; else the first column of the experiment's own with a direction; else speed. A column
// with the same expression lends its title.
Question QuestionOf(const std::vector<ResultSet>& sets, const Combined& combined, const ReportSection& report,
                    const ComparisonSpec& spec);

}  // namespace backplane
