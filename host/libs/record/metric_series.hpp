// Names the numbers of a line of metrics.jsonl the same way in every file derived from it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "record/iteration.hpp"

namespace backplane {

// "sps", "return", "ep/length", "eval/return", "eval/length", "train/policy_loss", "resources/rss_mb", ...
struct MetricValue {
  enum class Of {
    kAxis,        // "env_steps" and "t" (trial time in seconds): the x axes of plots
    kExperiment,  // equal in every run of the trial
    kMachine,     // differs between equal trials
  };
  std::string name;
  double value = 0;  // NaN if it was not finite
  Of of = Of::kExperiment;
};

// Leaves out means over no episodes and values that are not numbers.
std::vector<MetricValue> MetricSeries(const Iteration& line);

// True for metrics of training episodes or evaluations, which the result summarizes separately.
bool IsOfEpisodes(std::string_view name);

// An evaluation repeats "ep/length" under its own name: NameUnder("eval/", "ep/length") is "eval/length".
std::string NameUnder(const std::string& prefix, const std::string& name);

}  // namespace backplane
