// The measure that a search optimizes: its value for an ended trial, and for a running one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "record/results_folder.hpp"

namespace backplane {

// The objective of an attempt that ended: the mean in its result, or else the last finite value. It is absent if the metric
// diverged (record/finite_tail.hpp). Absent: there is none. Such a trial counts as failed, as Optuna does with a NaN.
std::optional<double> ObjectiveOf(const AttemptFolder& attempt, const std::string& metric);

// The names of all metrics that an attempt recorded, finite or not, sorted.
std::vector<std::string> RecordedMetrics(const AttemptFolder& attempt);

// Reads on in the metrics of a trial's attempts, one after the other, where it stopped.
class MetricFollower {
 public:
  MetricFollower(TrialFolder trial, std::string metric) : trial_(std::move(trial)), metric_(std::move(metric)) {}

  // Calls `use` with each finite value that has come since the last call, and its iteration, from 1 on; until it returns false,
  // which is remembered. What an attempt repeats of an earlier one is passed over.
  void Read(const std::function<bool(uint64_t step, double value)>& use);
  // Nothing up to this step is new.
  void Skip(uint64_t step) { last_step_ = step; }

 private:
  bool ReadAttempt(const std::filesystem::path& metrics, const std::function<bool(uint64_t, double)>& use);

  TrialFolder trial_;
  std::string metric_;
  unsigned attempt_ = 1;
  uint64_t offset_ = 0, last_step_ = 0;
  bool enough_ = false;
};

}  // namespace backplane
