// The progress of a trial over all its attempts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "record/checkpoint_header.hpp"
#include "rollout/clocks.hpp"
#include "trial/budget.hpp"

namespace backplane {

struct TrialCount {
  bool first_warms_up = false;    // the trial measures speed
  uint64_t iterations = 0;        // without the warm-up
  uint64_t env_steps = 0;         // including the warm-up
  std::optional<WarmUp> warm_up;  // set after the warm-up

  // True if the current or next iteration is number 0, the warm-up.
  bool warms_up() const { return first_warms_up && !warm_up; }
  uint64_t open_iteration() const { return warms_up() ? 0 : iterations + 1; }
  // The spent part of the budget; the arguments cover the whole trial.
  Spent SpentOfBudget(double seconds, double epochs, uint64_t episodes = 0) const {
    if (warms_up()) return {};
    const WarmUp before = warm_up.value_or(WarmUp{});
    return {iterations, env_steps - before.env_steps, seconds - before.seconds, epochs - before.epochs,
            episodes - std::min(before.episodes, episodes)};
  }
};

// The current iteration, or the last one: from a collecting request to the next one, with its ticks.
struct OpenIteration {
  bool open = false;
  bool begun = false;  // it has changed state that a checkpoint contains
  uint64_t steps = 0;
  int64_t start_ns = 0, end_ns = 0, collect_ns = 0;
  int64_t between_ns = 0;  // spent on the parts that were collected before the last one

  void Start() {
    open = true;
    start_ns = NowNs();
    between_ns = 0;
  }
  void Collected() { collect_ns = std::max<int64_t>(NowNs() - start_ns - between_ns, 1); }
  void End() {
    open = begun = false;
    end_ns = std::max(NowNs(), start_ns + 1);  // the clock may have been set back (clocks.hpp)
  }
  int64_t duration_ns() const { return end_ns - start_ns; }
  double seconds() const { return static_cast<double>(duration_ns()) * 1e-9; }
  double collecting_s() const { return static_cast<double>(collect_ns) * 1e-9; }
};

// Wall time: of this attempt, of the trial including earlier attempts, and of the measured part of this attempt.
class TrialClock {
 public:
  void Start() { start_ns_ = measured_from_ns_ = NowNs(); }
  void Stop() { end_ns_ = NowNs(); }
  void GoOnFrom(double seconds) { before_s_ = seconds; }  // of all earlier attempts
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
