// Watches a running trial's signs of life and limits, and decides when to stop it.
#pragma once

#include <optional>

#include "batch/engine.hpp"
#include "batch/outcome.hpp"
#include "contract/experiment.hpp"

namespace backplane {

// The shim ends a trial after so many hang_timeouts by its own clock. The trial's clock pauses while the trial is stopped
// (shim/silence_watch.hpp).
inline constexpr double kSilenceLimits = 2;

class Watchdog {
 public:
  explicit Watchdog(const ResourceConfig& limits) : limits_(limits) {}

  // Decides from the trial's status whether it must be stopped. `elapsed_s`: since its start; the trial's own time takes
  // precedence.
  std::optional<StopHow> Look(const std::optional<StatusFile>& now, double elapsed_s);
  void Interrupted() { Stopped(StopReason::kInterrupt); }
  StopReason stop() const { return stop_; }  // why the trial is being stopped

 private:
  void Stopped(StopReason reason);

  ResourceConfig limits_;
  std::optional<uint64_t> heartbeat_;  // the last one seen
  double last_sign_s_ = 0;
  double asked_s_ = 0;  // time of the request to a hung trial
  StopReason stop_ = StopReason::kNone;
};

}  // namespace backplane
