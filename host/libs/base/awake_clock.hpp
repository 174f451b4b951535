// Time measured by a polling loop. It stops while the process is stopped or the machine is suspended.
#pragma once

#include <algorithm>
#include <chrono>
#include <utility>

namespace backplane {

// A longer gap between two looks of a loop that waits for less is a pause of this process.
inline constexpr double kPauseOfOurs_s = 1;

class AwakeClock {
 public:
  using Clock = std::chrono::steady_clock;  // CLOCK_MONOTONIC, which does not count a suspended machine

  // Between two looks at most `most_s` count: a longer gap means that the process itself did not run.
  explicit AwakeClock(double most_s, Clock::time_point now = Clock::now()) : most_s_(most_s), last_(now) {}

  // Adds the time since the last look. `counts` is false if that time is to be left out.
  double Look(bool counts = true, Clock::time_point now = Clock::now()) {
    const double passed_s = Passed(now);
    if (counts) seconds_ += passed_s;
    return seconds_;
  }
  // Returns the time since the last call without adding it.
  double Passed(Clock::time_point now = Clock::now()) {
    return std::clamp(std::chrono::duration<double>(now - std::exchange(last_, now)).count(), 0.0, most_s_);
  }
  double seconds() const { return seconds_; }

 private:
  double most_s_, seconds_ = 0;
  Clock::time_point last_;
};

}  // namespace backplane
