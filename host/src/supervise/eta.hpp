// How long a batch will still take, from what it took so far.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace backplane {

struct RunningTrial {
  double elapsed_s = 0;  // of this attempt
  double progress = 0;   // 0 to 1
};

struct EtaEvidence {
  std::vector<double> finished_s;  // wall times of trials that came to their end
  std::vector<RunningTrial> running;
  size_t waiting = 0;  // trials that have not started
  size_t at_once = 1;  // how many run side by side
};

// Seconds. A waiting trial is taken to last as long as the mean of those known; a running one goes on at its own pace. Absent
// without evidence: nothing has finished and nothing that runs has come far enough to tell.
std::optional<double> EstimateTimeLeft(const EtaEvidence& evidence);

}  // namespace backplane
