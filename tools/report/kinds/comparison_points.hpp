// Points side by side and their measures, shared by the tables and figures of a comparison.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "expression/expression.hpp"
#include "results/combine.hpp"

namespace backplane {

// Trials that differ in their seed only.
struct ComparedPoint {
  std::string name;  // with its group's label where there are several
  size_t group = 0;
  std::vector<size_t> trials;  // indices into Combined::trials
};
std::vector<ComparedPoint> PointsOf(const Combined& combined);

// A measure of a trial, or a value of its configuration, by name.
std::optional<nlohmann::json> ValueIn(const TrialData& trial, const std::string& name);
// Absent where a name in it has no value, or it has none.
std::optional<nlohmann::json> EvaluateIn(const TrialData& trial, const Expression& expression);

// A measure of a point: over its usable trials, or in a single trial with that one's own spread. Absent if no trial has it. An
// expression has the spread of the one measure in it that it moves, scales or turns round ("100 * eval/x"; paths of the
// configuration are constants); of other expressions a single trial knows none.
std::optional<Number> MeasureOf(const Combined& combined, const ComparedPoint& point, const Expression& expression);

// The text of a non-numeric value ("learner.plugin"), if all seeds that have one agree.
std::optional<std::string> WordsOf(const Combined& combined, const ComparedPoint& point, const Expression& expression);

}  // namespace backplane
