// The experiment file of a benchmark: an experiment, cut down to measure its speed, at several settings.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "contract/experiment.hpp"

namespace backplane {

// A setting to measure: its name, and values by path; none: the experiment as it is.
struct BenchPoint {
  std::string name;
  std::vector<std::pair<std::string, nlohmann::json>> values;
};

struct BenchPlan {
  double seconds = 10;             // that each trial trains
  uint64_t seeds = 1;              // trials of each setting
  std::vector<BenchPoint> points;  // the first is the baseline
  std::string out;                 // results folder
};

inline constexpr char kBenchReport[] = "bench";      // names the report's files
inline constexpr char kBenchChoice[] = "best.yaml";  // the experiment at its fastest setting, next to them
inline constexpr char kBenchPrefix[] = "bench_";     // before the experiment's name

// An experiment for `run`, which a person can edit too: the settings of `plan`, each seed of all of them in turn, with a
// report that compares their times. Evaluations and checkpoints are left out, because they take time from the measurement.
// `has_gpu`: adds columns that need a GPU.
nlohmann::json SpeedExperiment(const Experiment& experiment, const BenchPlan& plan, bool has_gpu);
// The same as the text of a file, with its purpose as a comment.
std::string BenchFile(const Experiment& experiment, const BenchPlan& plan, bool has_gpu);
// True for the text of such a file; bench replaces no others.
bool IsBenchFile(const std::string& text);

// The experiment itself, with its own budget, evaluations and checkpoints, at one of the settings. `speed` in steps/s.
std::string BestFile(const Experiment& experiment, const BenchPoint& point, double speed);

}  // namespace backplane
