// One number of a curve, by name: "train/loss@last", "iteration_s@p95", "eval/loss@iterations_to_min".
//
//   first, last, min, max, sum    of all finite values
//   mean, p50, p95                without the first iteration of an attempt, which warms up
//   per_s                         what was recorded per second of its iterations, without those first ones
//   iterations_to_min, steps_to_min, seconds_to_min (and ..._max)
//                                 until the curve was first as good as the worst of the best values of all completed trials
//                                 on the same machine; steps are the environment's, seconds those of iterations, without
//                                 evaluations
// Values that are not finite are left out. A curve without a finite value has no number. If it diverged
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

// A sentence if `name` has a '@' and no reduction behind it.
std::optional<std::string> WhyNoReduction(std::string_view name);

// "seconds_to_min" and its like, of which less is better.
bool IsWait(const std::string& how);

// What a reduction makes of the unit of its curve.
std::string UnitAfter(const std::string& how, const std::string& unit);

// Adds to each trial's measures those of `names` that are reductions of one of its curves. The others are left alone.
void AddReductions(const std::vector<std::string>& names, Combined* combined);

}  // namespace backplane
