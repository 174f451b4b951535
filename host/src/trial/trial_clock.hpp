// Wall time: of this attempt, of the trial with the attempts before it, and of the part of this attempt that is measured.
#pragma once

#include <cstdint>

#include "rollout/clocks.hpp"

namespace backplane {

class TrialClock {
 public:
  void Start() { start_ns_ = measured_from_ns_ = NowNs(); }
  void Stop() { end_ns_ = NowNs(); }
  void GoOnFrom(double seconds) { before_s_ = seconds; }  // of all attempts before
  void MeasureFromNow() { measured_from_ns_ = NowNs(); }

  double attempt_s() const { return static_cast<double>(attempt_ns()) * 1e-9; }
  double trial_s() const { return before_s_ + attempt_s(); }
  int64_t measured_ns() const { return attempt_ns() - (measured_from_ns_ - start_ns_); }

 private:
  int64_t attempt_ns() const { return (end_ns_ != 0 ? end_ns_ : NowNs()) - start_ns_; }

  int64_t start_ns_ = 0, end_ns_ = 0, measured_from_ns_ = 0;
  double before_s_ = 0;
};

}  // namespace backplane
