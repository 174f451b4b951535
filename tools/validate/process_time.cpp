#include "validate/process_time.hpp"

#include <algorithm>

#include "rollout/clocks.hpp"

namespace backplane {
namespace {

constexpr int64_t kComputes = 100;  // a process that uses 1/100 of a CPU is computing
constexpr int64_t kAtMost = 2;      // times the limit, on any machine

}  // namespace

ProcessTime::ProcessTime(pid_t process, double limit_s)
    : limit_ns_(static_cast<int64_t>(limit_s * 1e9)),
      window_ns_(std::min<int64_t>(limit_ns_ / 4, 1'000'000'000)),
      begin_ns_(NowNs()),
      seen_ns_(begin_ns_) {
  has_clock_ = clock_getcpuclockid(process, &clock_) == 0;
}

bool ProcessTime::IsOver() {
  const int64_t now = NowNs(), passed = now - seen_ns_;
  if (passed < window_ns_) return false;
  const int64_t cpu_now = CpuNs(), cpu = cpu_now - cpu_ns_;
  used_ns_ += cpu * kComputes < passed ? passed : std::min(cpu, passed);
  seen_ns_ = now, cpu_ns_ = cpu_now;
  return used_ns_ >= limit_ns_ || now - begin_ns_ >= kAtMost * limit_ns_;
}

double ProcessTime::wall_s() const { return static_cast<double>(NowNs() - begin_ns_) * 1e-9; }

int64_t ProcessTime::CpuNs() const {
  timespec t;
  return has_clock_ && clock_gettime(clock_, &t) == 0 ? t.tv_sec * 1'000'000'000 + t.tv_nsec : cpu_ns_;
}

}  // namespace backplane
