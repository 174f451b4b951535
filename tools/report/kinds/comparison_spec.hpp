// What `report: {kind: comparison, ...}` asks for: everything particular to a task stands in the experiment file.
//
//   columns: [SPS, {measure: "100 * eval/return / minutes", title: return per minute, unit: 1/min, direction: up, digits: 3},
//             {measure: iteration_s@p95, detail: true}]
//   figures: [{scatter: {file: a.png, x: MEASURE, y: MEASURE}},
//             {curves: {file: b.png, y: [NAME, {name: NAME, x: time_s}, ...], x: env_steps}},
//             {bars: {file: c.png, y: [MEASURE, ...]}}, {table: {file: d.png}}]
//   select:  {metric: MEASURE, direction: maximize, where: "rss_peak_mb < 4000", write: selected.yaml}, or a list of such
//
// A measure is a name of results/result_set.hpp, a path of the configuration, or an expression of both.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "expression/expression.hpp"
#include "record/goal.hpp"
#include "record/report_check.hpp"

namespace backplane {

struct MeasureSpec {
  Expression expression;
  std::string title, unit;
  int direction = 0;  // 1 up is better, -1 down
  int digits = 4;
  bool detail = false;     // not among the columns of text and figures
  std::string path;        // where it stands in the file: "report.columns.1"
  bool in_ratios = false;  // changes against the baseline are ratios (kinds/change.hpp), else differences
  bool IsOneName() const { return expression.paths().size() == 1 && expression.paths().front() == expression.text(); }
  // Set for steps_to(METRIC, VALUE). Not every trial may have reached it: its values are compared by a log-rank test.
  std::optional<Goal> StepsGoal() const {
    return expression.text().starts_with(kStepsTo) ? GoalOfMeasure(expression.text()) : std::nullopt;
  }
};

struct CurveSpec {
  std::string name;
  std::string against;  // env_steps, iteration, time_s, or NAME@sum: the sum of another curve so far
  std::string path;     // where it stands in the file
};
// NAME of "NAME@sum".
std::optional<std::string> SumAxis(const std::string& axis);

struct FigureSpec {
  enum class Kind { kScatter = 1, kCurves, kBars, kTable };
  Kind kind = Kind::kTable;
  std::string file;  // "memory_vs_speed.png"
  std::string title;
  std::optional<MeasureSpec> x;   // scatter
  std::vector<MeasureSpec> y;     // scatter: the first filled, the others hollow; bars: a panel each
  std::vector<CurveSpec> curves;  // a panel each
};

struct SelectSpec {
  MeasureSpec metric;
  std::optional<bool> says_maximize;  // from the file; absent: by the metric's direction
  bool maximize() const { return says_maximize.value_or(metric.direction >= 0); }
  std::optional<Expression> where;
  std::string write;
};

struct ComparisonSpec {
  std::vector<MeasureSpec> columns;
  std::vector<FigureSpec> figures;
  std::vector<SelectSpec> selections;
  std::vector<std::string> notes;  // sentences of the file's author, among the report's limits
};

// Every name that columns, figures and the selection look up in a trial, and where it stands in the file. Without curves, of
// which a trial may have none: those are in CurvesIn.
struct NamedAt {
  std::string name, path;
};
std::vector<NamedAt> NamesIn(const ComparisonSpec& spec);
std::vector<NamedAt> CurvesIn(const ComparisonSpec& spec);

// Parses an expression and adds the unit and direction known to the host. Absent if the text is no expression of measures.
std::optional<MeasureSpec> MeasureOfText(const std::string& text);

// Missing columns have defaults. Reports every error; the result is then incomplete.
ComparisonSpec ReadComparisonSpec(const ReportSection& config, std::vector<ReportError>* errors);

}  // namespace backplane
