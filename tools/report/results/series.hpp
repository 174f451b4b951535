// Finds series of comparable trials: configurations that differ only in runners, rows and seed.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "results/parallel_efficiency.hpp"

namespace backplane {

inline constexpr const char* kRunnersPath = "rollout.num_env_runners";
inline constexpr const char* kRowsPath = "rollout.num_envs_per_env_runner";

struct SeriesOfTrials {
  std::vector<ScoredSeries> series;  // labelled, without baselines; in the order in which the trials name them
  std::vector<size_t> of;            // [trial] -> index into series
};

// `outside_identity`: paths that affect no results, as in ReportRequest.
SeriesOfTrials FindSeries(const Combined& combined, const std::set<std::string>& outside_identity);

}  // namespace backplane
