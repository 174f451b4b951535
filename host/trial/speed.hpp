// Measures the attempt's speed in env steps per second, and checks it against report.precision. The first iteration is a
// warm-up, which counts only while it is the only one.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "contract/experiment.hpp"
#include "record/reached_precision.hpp"
#include "record/trial_result.hpp"
#include "trial/trial_count.hpp"

namespace backplane {

// Ends a trial when its speed is precise enough or has taken long enough: report.precision and report.max_time.
class Measuring {
 public:
  // With two iterations, the spread is the difference of one pair, which may be near zero or twice the true value.
  static constexpr uint64_t kLeastIterations = 3;

  // `seeds` trials share report.max_time. Without report.precision, it never ends and has no progress.
  Measuring(const ReportConfig& report, uint64_t seeds);

  // Adds the steps per second of an iteration after the warm-up, above zero.
  void Add(double speed) { speeds_.push_back(speed); }
  // The functions below use the seconds of this attempt: an attempt that resumes warms up and measures again.

  // Precise enough, or out of time with at least one iteration measured.
  bool Ended(double seconds) const;
  double Progress(double seconds) const;                          // share of the time, 0 to 1; it may end earlier
  std::optional<ReachedPrecision> Reached(double seconds) const;  // absent without report.precision

 private:
  std::optional<double> HalfWidthPct() const;  // absent: too few iterations
  bool IsPrecise() const;

  std::optional<double> precision_pct_;
  double max_seconds_ = 0;
  std::vector<double> speeds_;
};

class TrialSpeed {
 public:
  TrialSpeed(const ReportConfig& report, uint64_t seeds) : measuring_(report, seeds) {}

  void Add(const OpenIteration& iteration);  // call after it ended
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
