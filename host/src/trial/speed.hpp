// How fast the attempt is, in env steps per second, and whether that is known well enough for report.precision. Its first
// iteration warms up, and counts only while there is no other.
#pragma once

#include <cstdint>

#include "record/trial_result.hpp"
#include "trial/measuring.hpp"
#include "trial/open_iteration.hpp"

namespace backplane {

class TrialSpeed {
 public:
  TrialSpeed(const ReportConfig& report, uint64_t seeds) : measuring_(report, seeds) {}

  void Add(const OpenIteration& iteration);  // that has ended
  const Measuring& measuring() const { return measuring_; }
  void AddTo(LoopResult* result, double attempt_s) const;

 private:
  struct Sum {
    uint64_t steps = 0;
    double seconds = 0, collecting_s = 0;

    void Add(const OpenIteration& iteration) {
      steps += iteration.steps, seconds += iteration.seconds(), collecting_s += iteration.collecting_s();
    }
  };

  Measuring measuring_;
  bool warm_ = false;
  Sum first_, steady_;
};

}  // namespace backplane
