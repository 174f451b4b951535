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
// Total time for which the process was stopped, as far as known. Only grows.
inline constinit std::atomic<int64_t> suspended_ns{0};
// A steady clock that pauses while the process is stopped. The pause is subtracted only when it is detected, which sets the
// clock back, so a span across that moment may be negative. About 30 ns per call.
inline int64_t NowNs() { return ReadClock(CLOCK_MONOTONIC) - suspended_ns.load(std::memory_order_relaxed); }
// CPU time of the calling thread. A system call of about 1 us, so never per step.
inline int64_t ThreadCpuNs() { return ReadClock(CLOCK_THREAD_CPUTIME_ID); }

}  // namespace backplane
