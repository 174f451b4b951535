// Measures a process's share of its time.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <ctime>

namespace backplane {

// Wall time minus the time in which a computing process got no CPU. Subtracts at most the limit.
class ProcessTime {
 public:
  ProcessTime(pid_t process, double limit_s);
  int64_t window_ms() const { return window_ns_ / 1'000'000 + 1; }
  bool IsOver();
  double wall_s() const;
  double limit_s() const { return static_cast<double>(limit_ns_) * 1e-9; }

 private:
  int64_t CpuNs() const;

  const int64_t limit_ns_, window_ns_, begin_ns_;
  int64_t seen_ns_, cpu_ns_ = 0, used_ns_ = 0;
  clockid_t clock_ = 0;
  bool has_clock_ = false;
};

}  // namespace backplane
