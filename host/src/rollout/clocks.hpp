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
// What is not the process's own time, as it was stopped; only grows.
inline constinit std::atomic<int64_t> suspended_ns{0};
// Steady, and stands still while the process is stopped. About 30 ns a call.
inline int64_t NowNs() { return ReadClock(CLOCK_MONOTONIC) - suspended_ns.load(std::memory_order_relaxed); }
// CPU time of the calling thread; a system call of about 1 us, so never per step.
inline int64_t ThreadCpuNs() { return ReadClock(CLOCK_THREAD_CPUTIME_ID); }

}  // namespace backplane
