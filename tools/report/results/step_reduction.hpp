// Reductions of a curve that depend on env steps: "return@mean:10%", "return@step:1e6", "return@area".
//
//   mean:P%   mean over the last P percent of its steps, from its first step to its last
//   step:N    the value at step N: of the last point up to N; none if the curve begins later or ends earlier
//   area      area under the curve (trapezoids), divided by its steps, over the steps that all trials have
#pragma once

#include <map>
#include <optional>
#include <string>

#include "results/combine.hpp"

namespace backplane {

class StepReduction {
 public:
  // Absent if `how` is a different reduction, or its number is wrong.
  static std::optional<StepReduction> Of(const std::string& how);

  // Finds the range of steps that all trials of a group have of the named curve. Only areas need it.
  void FindCommonSteps(const Combined& combined, const std::string& curve);

  // `curve` has at least one point, and finite values only.
  std::optional<double> Value(const std::vector<CurvePoint>& curve, size_t group) const;

 private:
  enum class Kind { kMean = 1, kStep, kArea };
  struct Range {
    double first = 0, last = 0;
  };

  StepReduction(Kind kind, double number) : kind_(kind), number_(number) {}

  Kind kind_;
  double number_;  // percent, or steps
  std::map<size_t, Range> common_;
};

}  // namespace backplane
