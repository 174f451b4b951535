#include "rollout/phase_clock.hpp"

#include <unistd.h>

#include <algorithm>

#include "machine/run_queue.hpp"
#include "rollout/phase_trace.hpp"

namespace backplane {

void PhaseClock::Trace(int64_t now) { trace_->Add(Get(phase_), Get(since_), now); }

void PhaseClock::Reset() {
  if (running()) EndSpan();
  for (std::atomic<int64_t>& sum : ns_) Set(sum, int64_t{0});
  cpu_ns_ = {}, cpu_wall_ns_ = {};
  if (thread_ != 0) queued_before_ns_ = backplane::RunQueueWaitNs(thread_).value_or(0);
}

void PhaseClock::OpenCpuSpan() {
  if (thread_ == 0) {
    thread_ = gettid();
    queued_before_ns_ = backplane::RunQueueWaitNs(thread_).value_or(0);
  }
  cpu_begin_ns_ = ThreadCpuNs();
  cpu_open_ = true;
  cpu_due_ns_ = 0;
}

// The end is read after the CPU time: a thread that loses its core in between has waited in this span, and its next phase did
// not take so long. A long span may be followed by another long one, so its end is the next one's beginning; a short one is
// followed by a pause.
int64_t PhaseClock::TakeCpuTime() {
  const int64_t cpu_ns = ThreadCpuNs();
  const int64_t now = NowNs();
  const int64_t duration_ns = std::max<int64_t>(now - Get(since_), 0);
  if (cpu_open_) {
    // Virtual machines book stolen time late: over a microsecond their CPU clock may advance by more than went by.
    cpu_ns_[static_cast<size_t>(Get(phase_))] += std::min(cpu_ns - cpu_begin_ns_, duration_ns);
    cpu_wall_ns_[static_cast<size_t>(Get(phase_))] += duration_ns;
  }
  const bool pause = cpu_open_ && duration_ns < kCpuEveryNs;
  cpu_open_ = !pause;
  cpu_begin_ns_ = cpu_ns;
  cpu_due_ns_ = pause ? now + kCpuEveryNs : 0;
  return now;
}

std::optional<int64_t> PhaseClock::RunQueueWaitNs() const {
  if (thread_ == 0) return 0;
  const std::optional<int64_t> queued_ns = backplane::RunQueueWaitNs(thread_);
  return queued_ns ? std::optional(*queued_ns - queued_before_ns_) : std::nullopt;
}

}  // namespace backplane
