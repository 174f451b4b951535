// The numbers of an attempt, as its files give them: what the tables of the store hold.
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
  std::vector<std::pair<std::string, double>> time;  // where the time went: "time/GROUP_pct", "_s", "_cpu_pct", "_gpu_pct"
  std::vector<std::string> facts;                    // what plugins decided by themselves: "learner.x update_path fused"
  // "return", "ep/length", "eval/return", "eval/length", "floor_zero/return", ...
  std::map<std::string, Spread> statistics;
};

struct IterationValue {
  uint64_t iteration = 0;
  std::string name;
  double value = 0;  // NaN: it was not finite
};

// Of result.json in `attempt`; a missing or broken file has measured nothing, a key of another type counts as absent.
Measurements ReadMeasurements(const AttemptFolder& attempt);

// Of metrics.jsonl in `attempt`, line by line; lines that are no objects with an "iteration" are left out.
std::vector<IterationValue> ReadIterations(const AttemptFolder& attempt);

}  // namespace backplane
