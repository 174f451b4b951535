// Estimates the remaining time of a batch from the time used so far.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace backplane {

// Trials of one kind, which are the trials of a point, differ only in their seed, so they take about the same time.
struct FinishedTrial {
  double elapsed_s = 0;  // until it came to its end
  size_t kind = 0;
};

struct RunningTrial {
  double elapsed_s = 0;  // of this attempt
  double progress = 0;   // 0 to 1
  size_t kind = 0;
  uint64_t iterations = 0;  // complete ones
};

struct EtaEvidence {
  std::vector<FinishedTrial> finished;
  std::vector<RunningTrial> running;
  std::vector<size_t> waiting;  // kinds of those that have not started, in their order
  size_t to_come = 0;           // more trials after these, of unknown kinds
  size_t at_once = 1;           // how many run side by side
};

// Seconds. A waiting trial counts with the mean time of its kind or, if unknown, of all trials; a running one with its own
// pace. Absent without evidence: no trial has finished or made enough progress.
std::optional<double> EstimateTimeLeft(const EtaEvidence& evidence);

}  // namespace backplane
