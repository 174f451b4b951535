// The experiment file of a benchmark: an experiment reduced to measuring its speed at several settings.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "contract/experiment.hpp"
#include "record/run_info.hpp"

namespace backplane {

// A setting to measure: its name, and values by path; no values: the unchanged experiment.
struct BenchPoint {
  std::string name;
  std::vector<std::pair<std::string, nlohmann::json>> values;
};

struct BenchPlan {
  double seconds = 10;             // training time of each trial
  uint64_t seeds = 1;              // trials of each setting
  std::vector<BenchPoint> points;  // the first is the baseline
  std::string out;                 // results folder
};

inline constexpr char kBenchReport[] = "bench";           // names the report's files
inline constexpr char kBenchChoice[] = "best.yaml";       // the experiment at its fastest setting, next to them
inline constexpr char kBenchPreset[] = "autotuned.yaml";  // its fastest setting as a preset
inline constexpr char kBenchPrefix[] = "bench_";          // before the experiment's name

// An experiment for `run`, which a person can edit: the settings of `plan`, each seed of all settings in turn, and a report on
// their times. Omits evaluations and checkpoints, whose time would distort the measurement. `has_gpu`: adds columns that need a
// GPU.
nlohmann::json SpeedExperiment(const Experiment& experiment, const BenchPlan& plan, bool has_gpu);
// The same as file text, with its purpose as a comment.
std::string BenchFile(const Experiment& experiment, const BenchPlan& plan, bool has_gpu);
// True for the text of such a file; bench replaces no others.
bool IsBenchFile(const std::string& text);

// The experiment itself, with its own budget, evaluations and checkpoints, at one of the settings. `speed` in steps/s.
std::string BestFile(const Experiment& experiment, const BenchPoint& point, double speed);

// A preset with the setting's values, for the experiment's learner on machines with this GPU. NULL: on machines without one.
std::string PresetFile(const Experiment& experiment, const BenchPoint& point, double speed, const DeviceInfo* gpu);

}  // namespace backplane
