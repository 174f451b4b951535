// Reduces a curve to one number, by name: "train/loss@last", "iteration_s@p95", "eval/loss@iterations_to_min".
//
//   first, last, min, max, sum    of all finite values
//   mean, p50, p95                without the first iteration of an attempt, which warms up
//   per_s                         sum per second of its iterations, without the first ones
//   iterations_to_min, steps_to_min, seconds_to_min (and ..._max)
//                                 until the curve reached the target: the best value of each completed trial on the same
//                                 machine, the worst of these. Counts env steps, and seconds without evaluations
//   mean:P%, step:N, area         by env steps (results/step_reduction.hpp)
// Non-finite values are ignored. A curve without a finite value has no number. If it diverged
// (record/finite_tail.hpp), last, mean, sum and per_s are NaN.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/combine.hpp"

namespace backplane {

// "train/loss@last" -> "train/loss" and "last"; absent without a '@'.
struct ReducedName {
  std::string curve, how;
};
std::optional<ReducedName> SplitReducedName(std::string_view name);

// An error sentence if `name` has a '@' without a known reduction after it.
std::optional<std::string> WhyNoReduction(std::string_view name);

// "seconds_to_min" and similar ones, where less is better.
bool IsWait(const std::string& how);

// The unit of the reduced value.
std::string UnitAfter(const std::string& how, const std::string& unit);

// Adds measures to each trial for those `names` that reduce one of its curves, or count its steps to a goal
// (results/steps_to.hpp). Ignores other names.
void AddReductions(const std::vector<std::string>& names, Combined* combined);

}  // namespace backplane
