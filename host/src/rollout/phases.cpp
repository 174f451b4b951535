#include "rollout/phases.hpp"

#include "rollout/phase_trace.hpp"

namespace backplane {

void PhaseClock::Trace(int64_t now) { trace_->Add(Get(phase_), Get(since_), now); }

void PhaseClock::OpenCpuSpan() {
  cpu_begin_ns_ = ThreadCpuNs();
  cpu_open_ = true;
  cpu_due_ns_ = 0;
}

// A long span may be followed by another long one, so its end is the next one's beginning; a short one is followed by a pause.
void PhaseClock::TakeCpuTime(int64_t now, int64_t duration_ns) {
  const int64_t cpu_ns = ThreadCpuNs();
  duration_ns = std::max<int64_t>(duration_ns, 0);
  if (cpu_open_) {
    cpu_ns_[static_cast<size_t>(Get(phase_))] += cpu_ns - cpu_begin_ns_;
    cpu_wall_ns_[static_cast<size_t>(Get(phase_))] += duration_ns;
  }
  const bool pause = cpu_open_ && duration_ns < kCpuEveryNs;
  cpu_open_ = !pause;
  cpu_begin_ns_ = cpu_ns;
  cpu_due_ns_ = pause ? now + kCpuEveryNs : 0;
}

}  // namespace backplane
