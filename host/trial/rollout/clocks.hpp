// The clocks of a trial.
#pragma once

#include <time.h>

#include <atomic>
#include <cstdint>

namespace backplane {

inline int64_t ReadClock(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return static_cast<int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}
// Time in which the process was stopped, as far as it is known; only grows.
inline constinit std::atomic<int64_t> suspended_ns{0};
// Stands still while the process is stopped, but for the moment until that is known: what is added to suspended_ns then sets
// this clock back, so that a span over that moment is shorter than nothing. Else steady. About 30 ns a call.
inline int64_t NowNs() { return ReadClock(CLOCK_MONOTONIC) - suspended_ns.load(std::memory_order_relaxed); }
// CPU time of the calling thread; a system call of about 1 us, so never per step.
inline int64_t ThreadCpuNs() { return ReadClock(CLOCK_THREAD_CPUTIME_ID); }

}  // namespace backplane
