// What one line of metrics.jsonl says, as names and numbers: the same names in every file that is made from it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "record/iteration.hpp"

namespace backplane {

// "sps", "return", "ep/length", "eval/return", "eval/length", "train/policy_loss", "resources/rss_mb", ...
struct MetricValue {
  enum class Of {
    kAxis,        // "env_steps" and "t" (seconds of the trial): what others are drawn over
    kExperiment,  // the same in every run of the trial
    kMachine,     // differs from run to run
  };
  std::string name;
  double value = 0;  // NaN: it was not finite
  Of of = Of::kExperiment;
};

// A mean over no episodes is no value and is left out, as is what is no number.
std::vector<MetricValue> MetricSeries(const Iteration& line);

// The result sums up such a metric by itself: it belongs to training's episodes or to an evaluation.
bool IsOfEpisodes(std::string_view name);

// An evaluation repeats "ep/length" under its own name: NameUnder("eval/", "ep/length") is "eval/length".
std::string NameUnder(const std::string& prefix, const std::string& name);

}  // namespace backplane
