// The numbers of an attempt, as its files give them: what the tables of the store hold.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "record/reached_precision.hpp"

namespace backplane {

// A number that was measured and is not finite is NaN; one that was not measured is absent.
struct Statistic {
  std::string name;  // "return", "ep/length", "eval/return", "eval/length", "floor_zero/return", ...
  std::optional<double> mean;
  std::optional<double> sd, se;  // sample standard deviation; standard error of the mean
  std::optional<double> n;
};

// What a plugin said of a measure when it registered it.
struct RegisteredMeasure {
  std::string name, unit;
  int direction = 0;  // 1 up is better, -1 down, 0 neither
};

// An update that did not fit the learner's device and was done in smaller parts.
struct ShrinkRecord {
  double iteration = 0, before = 0, after = 0;  // items at once
  double live_bytes = 0, peak_bytes = 0;        // 0: not told
};

struct Measurements {
  std::optional<double> wall_s, sps, sampling_sps, iterations, env_steps, episodes;
  std::optional<double> trial_s;  // wall_s with earlier attempts
  std::optional<double> threads, learner_threads, balance;
  std::optional<double> evaluated_at;  // iterations before the last evaluation
  std::optional<double> chunk_rows;    // rows of one call of act and step
  std::optional<double> monitor_cpu_s, process_cpu_s;
  std::vector<std::pair<std::string, double>> phase_shares;  // of threads x time; a phase that took no time may be left out
  std::vector<std::pair<std::string, double>> time;  // where the time went: "time/GROUP_pct", "_s", "_cpu_pct", "_gpu_pct"
  std::vector<RegisteredMeasure> registered;
  std::vector<std::string> facts;     // what plugins decided by themselves: "learner.x update_path fused"
  std::vector<Statistic> statistics;  // sorted by name
  std::vector<ShrinkRecord> shrinks;
  std::optional<ReachedPrecision> precision;  // of a trial that went on until its speed was known well
};

struct IterationValue {
  uint64_t iteration = 0;
  std::string name;
  double value = 0;  // NaN: it was not finite
};

// Of result.json in `attempt_dir`; a missing or broken file has measured nothing, a key of another type counts as absent.
Measurements ReadMeasurements(const std::filesystem::path& attempt_dir);

// Of metrics.jsonl in `attempt_dir`, line by line; lines that are no objects with an "iteration" are left out.
std::vector<IterationValue> ReadIterations(const std::filesystem::path& attempt_dir);

}  // namespace backplane
