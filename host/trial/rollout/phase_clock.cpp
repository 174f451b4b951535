#include "rollout/phase_clock.hpp"

#include <unistd.h>

#include <algorithm>
#include <numeric>

#include "machine/process_usage.hpp"
#include "rollout/phase_trace.hpp"

namespace backplane {

void PhaseClock::Trace(int64_t now) { trace_->Add(Get(phase_), Get(since_), now); }

void PhaseClock::Reset() {
  if (running()) EndSpan();
  for (std::atomic<int64_t>& sum : ns_) Set(sum, int64_t{0});
  cpu_ns_ = {}, cpu_wall_ns_ = {}, seen_ns_ = {};
  cpu_seen_ns_.reset();
  cpu_due_ns_ = 0;
  if (thread_ != 0) queued_before_ns_ = backplane::RunQueueWaitNs(thread_).value_or(0);
}

void PhaseClock::TakeOver(const PhaseSums& others, int64_t ns, bool timed) {
  const auto total_ns = static_cast<double>(std::accumulate(others.ns.begin(), others.ns.end(), int64_t{0}));
  if (total_ns <= 0) return;
  // Marks this time as seen, so that the next look does not count it for this thread.
  const auto add = [this](size_t phase, int64_t some_ns) {
    Set(ns_[phase], Get(ns_[phase]) + some_ns);
    seen_ns_[phase] += some_ns;
  };
  if (timed) add(static_cast<size_t>(Phase::kIdle), -ns);
  for (size_t p = 0; p < kPhaseCount; ++p) {
    const double part_ns = static_cast<double>(ns) * static_cast<double>(others.ns[p]) / total_ns;
    add(p, static_cast<int64_t>(part_ns));
    if (others.cpu_wall_ns[p] <= 0) continue;
    cpu_wall_ns_[p] += static_cast<int64_t>(part_ns);
    cpu_ns_[p] +=
        static_cast<int64_t>(part_ns * static_cast<double>(others.cpu_ns[p]) / static_cast<double>(others.cpu_wall_ns[p]));
  }
}

PhaseSums SumOf(const std::vector<PhaseClock>& clocks) {
  PhaseSums sums;
  for (const PhaseClock& clock : clocks)
    for (size_t p = 0; p < kPhaseCount; ++p) {
      const auto phase = static_cast<Phase>(p);
      sums.ns[p] += clock.ns(phase);
      sums.cpu_ns[p] += clock.cpu_ns(phase);
      sums.cpu_wall_ns[p] += clock.cpu_wall_ns(phase);
    }
  return sums;
}

// Reads the end after the CPU time. If the thread loses its core in between, the wait belongs to this span and not to the next
// phase.
void PhaseClock::EndSpanWithLook() {
  const int64_t cpu_ns = ThreadCpuNs();
  const int64_t now = NowNs();
  EndSpanAt(now);
  LookAtCpuTime(cpu_ns, now);
}

// Measures all time since the last look, because sampling single spans would be biased. A span in which the thread loses its
// core delays the next look, so a sample would always miss it.
void PhaseClock::LookAtCpuTime(int64_t cpu_ns, int64_t now) {
  if (thread_ == 0) {
    thread_ = gettid();
    queued_before_ns_ = backplane::RunQueueWaitNs(thread_).value_or(0);
  }
  constexpr size_t kIdle = static_cast<size_t>(Phase::kIdle);
  std::array<int64_t, kPhaseCount> went_by_ns;
  int64_t work_ns = 0;
  for (size_t p = 0; p < kPhaseCount; ++p) {
    const int64_t ns = Get(ns_[p]);
    went_by_ns[p] = std::max<int64_t>(ns - seen_ns_[p], 0);  // negative if the clock was set back
    seen_ns_[p] = ns;
    if (p != kIdle) work_ns += went_by_ns[p];
  }
  if (cpu_seen_ns_) {
    const int64_t used_ns = cpu_ns - *cpu_seen_ns_;
    // Virtual machines record stolen time late, so the CPU clock may briefly advance faster than the wall clock.
    const double use = work_ns > 0 ? std::min(static_cast<double>(used_ns) / static_cast<double>(work_ns), 1.0) : 0;
    for (size_t p = 0; p < kPhaseCount; ++p) {
      cpu_wall_ns_[p] += went_by_ns[p];
      cpu_ns_[p] += p == kIdle ? std::clamp<int64_t>(used_ns - work_ns, 0, went_by_ns[p])
                               : static_cast<int64_t>(use * static_cast<double>(went_by_ns[p]));
    }
  }
  cpu_seen_ns_ = cpu_ns;
  cpu_due_ns_ = now + kCpuEveryNs;
}

std::optional<int64_t> PhaseClock::RunQueueWaitNs() const {
  if (thread_ == 0) return 0;
  const std::optional<int64_t> queued_ns = backplane::RunQueueWaitNs(thread_);
  return queued_ns ? std::optional(*queued_ns - queued_before_ns_) : std::nullopt;
}

}  // namespace backplane
