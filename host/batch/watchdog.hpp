// Looks for a running trial's signs of life: whether it hangs or has used up its time, and what is to be done about it.
#pragma once

#include <optional>

#include "batch/engine.hpp"
#include "batch/outcome.hpp"
#include "contract/experiment.hpp"

namespace backplane {

// The shim ends a trial after so many hang_timeouts by its own clock. The clock of the trial stands still while the trial is
// stopped (shim/silence_watch.hpp).
inline constexpr double kSilenceLimits = 2;

class Watchdog {
 public:
  explicit Watchdog(const ResourceConfig& limits) : limits_(limits) {}

  // What must be done about the trial now, if anything, by what it says of itself. `elapsed_s` since it was started; where the
  // trial tells its own time, that counts.
  std::optional<StopHow> Look(const std::optional<StatusFile>& now, double elapsed_s);
  void Interrupted() { Stopped(StopReason::kInterrupt); }
  StopReason stop() const { return stop_; }  // why the trial is being ended

 private:
  void Stopped(StopReason reason);

  ResourceConfig limits_;
  std::optional<uint64_t> heartbeat_;  // the last that was seen
  double last_sign_s_ = 0;
  double asked_s_ = 0;  // when a hung trial was asked where it is
  StopReason stop_ = StopReason::kNone;
};

}  // namespace backplane
