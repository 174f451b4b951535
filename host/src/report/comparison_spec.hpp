// What `report: {kind: comparison, ...}` asks for: everything particular to a task stands in the experiment file.
//
//   columns: [SPS, {measure: "100 * eval/return / minutes", title: return per minute, unit: 1/min, direction: up, digits: 3}]
//   figures: [{scatter: {file: a.png, x: MEASURE, y: MEASURE}}, {curves: {file: b.png, y: [NAME, ...], x: env_steps}},
//             {bars: {file: c.png, y: [MEASURE, ...]}}, {table: {file: d.png}}]
//   select:  {metric: MEASURE, direction: maximize, where: "rss_peak_mb < 4000", write: selected.yaml}
//
// A measure is a name of analysis/result_set.hpp, a path of the configuration, or an expression of both.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "config/experiment.hpp"
#include "sweep/expression.hpp"

namespace backplane {

struct MeasureSpec {
  Expression expression;
  std::string title, unit;
  int direction = 0;  // 1 up is better, -1 down
  int digits = 4;
};

struct FigureSpec {
  enum class Kind { kScatter = 1, kCurves, kBars, kTable };
  Kind kind = Kind::kTable;
  std::string file;  // "memory_vs_speed.png"
  std::string title;
  std::optional<MeasureSpec> x;       // scatter
  std::vector<MeasureSpec> y;         // scatter: one; bars: a panel each
  std::vector<std::string> curves;    // names, a panel each
  std::string against = "env_steps";  // curves: env_steps, iteration or time_s
};

struct SelectSpec {
  MeasureSpec metric;
  bool maximize = true;
  std::optional<Expression> where;
  std::string write;
};

struct ComparisonSpec {
  std::vector<MeasureSpec> columns;
  std::vector<FigureSpec> figures;
  std::optional<SelectSpec> select;
};

struct SpecError {
  std::string path;  // "report.columns"
  std::string why;   // "entry 2: ..."
};

// Whether the host itself measures it, whatever the plugins are.
bool IsHostMeasure(const std::string& name);

// Columns that are not given have defaults. Every error is reported; what is returned then is incomplete.
ComparisonSpec ReadComparisonSpec(const ReportConfig& config, std::vector<SpecError>* errors);

}  // namespace backplane
