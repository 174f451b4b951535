// The numbers in an attempt's files, as the tables of the store contain them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "record/results_folder.hpp"
#include "record/trial_result.hpp"

namespace backplane {

struct Measurements {
  TrialResult result;
  std::vector<std::pair<std::string, double>> time;  // time breakdown: "time/GROUP_pct", "_s", "_cpu_pct", "_gpu_pct"
  std::vector<std::string> facts;                    // decisions of the plugins: "learner.x update_path fused"
  // "return", "ep/length", "eval/return", "eval/length", "floor_zero/return", ...
  std::map<std::string, Spread> statistics;
};

struct IterationValue {
  uint64_t iteration = 0;
  std::string name;
  double value = 0;  // NaN if it was not finite
};

// Reads result.json in `attempt`. A missing or broken file yields no measurements; a key of the wrong type counts as absent.
Measurements ReadMeasurements(const AttemptFolder& attempt);
Measurements MeasurementsOf(TrialResult result);

// Reads metrics.jsonl in `attempt`; skips lines that are not objects with an "iteration".
std::vector<IterationValue> ReadIterations(const AttemptFolder& attempt);

}  // namespace backplane
