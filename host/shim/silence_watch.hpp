// The second clock on a trial: measures its silence by the clock of its shim.
//
// The trial's own clock stands still while it is stopped, so that a suspended trial loses no time (batch/watchdog.hpp).
// That clock never ends a trial that stays stopped. This one does. It pauses while the shim, or the process that started the
// shim, is stopped as well. Then the job, the container or the machine is suspended, not only the trial.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "base/awake_clock.hpp"

namespace backplane {

class SilenceWatch {
 public:
  // `status_file`: holds the heartbeat, which is the sign of life; it may be created later.
  SilenceWatch(std::filesystem::path status_file, double limit_s);
  ~SilenceWatch();
  SilenceWatch(const SilenceWatch&) = delete;

  // Call it every next_look_ms(). True: the trial has been silent for longer than the limit.
  bool IsOver();
  int next_look_ms() const { return tick_ms_; }

 private:
  std::optional<uint64_t> Heartbeat();

  const std::filesystem::path status_file_;
  const double limit_s_;
  const int tick_ms_;
  int fd_ = -1;
  AwakeClock clock_;
  std::optional<uint64_t> last_;
  double last_sign_s_ = 0;
};

}  // namespace backplane
