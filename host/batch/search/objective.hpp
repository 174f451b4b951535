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

// The objective of an ended attempt: the mean in its result, or else the last finite value. Absent if the metric is missing or
// diverged (record/finite_tail.hpp). Such a trial counts as failed, as in Optuna. steps_to a goal that was not reached is the
// env steps of the whole trial, a lower bound.
std::optional<double> ObjectiveOf(const AttemptFolder& attempt, const std::string& metric);

// The names of all metrics that an attempt recorded, finite or not, sorted.
std::vector<std::string> RecordedMetrics(const AttemptFolder& attempt);

// Reads new metrics of a trial's attempts, one after the other.
class MetricFollower {
 public:
  MetricFollower(TrialFolder trial, std::string metric) : trial_(std::move(trial)), metric_(std::move(metric)) {}

  // Calls `use` with each new finite value and its iteration, counted from 1, until it returns false; then stops for good.
  // Skips iterations that an attempt repeats.
  void Read(const std::function<bool(uint64_t step, double value)>& use);
  // Marks all values up to this step as seen.
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
