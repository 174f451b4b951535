// Estimates the remaining time of a batch from the time used so far.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace backplane {

// Trials of one kind differ in little but their seed, and so last alike: those of a point.
struct FinishedTrial {
  double elapsed_s = 0;  // until it came to its end
  size_t kind = 0;
};

struct RunningTrial {
  double elapsed_s = 0;  // of this attempt
  double progress = 0;   // 0 to 1
  size_t kind = 0;
};

struct EtaEvidence {
  std::vector<FinishedTrial> finished;
  std::vector<RunningTrial> running;
  std::vector<size_t> waiting;  // kinds of those that have not started, in their order
  size_t to_come = 0;           // others after these, of kinds that nobody knows
  size_t at_once = 1;           // how many run side by side
};

// Seconds. A waiting trial is taken to last as long as the mean of its kind or, where none is known, of all; a running one goes
// on at its own pace. Absent without evidence: nothing has finished and nothing that runs has come far enough to tell.
std::optional<double> EstimateTimeLeft(const EtaEvidence& evidence);

}  // namespace backplane
