// The exclusive time of each phase, per thread.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "record/phases.hpp"
#include "rollout/clocks.hpp"

namespace backplane {

class PhaseTrace;

// Sums of thread times by phase.
struct PhaseSums {
  std::array<int64_t, kPhaseCount> ns{}, cpu_ns{}, cpu_wall_ns{};
};

// Time of one thread. At most one phase runs at a time: `Switch` ends the old one and starts the new one with one reading of
// the clock. Only its own thread calls it, except for reading functions: [any] marks those that are always safe, the others
// require the thread to be idle.
class PhaseClock {
 public:
  // The clock that runs on the calling thread; NULL: the host does not time it.
  static PhaseClock* OfThisThread() { return tls_running_clock; }

  void Start(Phase phase) {
    Set(phase_, phase);
    Set(since_, NowNs());
    Set(running_, true);
    if (since_ns() >= cpu_due_ns_) LookAtCpuTime(ThreadCpuNs(), since_ns());
    tls_running_clock = this;
  }
  // Returns the previous phase, so that a nested one can restore it.
  Phase Switch(Phase phase) {
    EndSpan();
    const Phase old = Get(phase_);
    Set(phase_, phase);
    return old;
  }
  void Stop() {
    if (!running()) return;
    EndSpan();
    Set(running_, false);
    tls_running_clock = nullptr;
  }
  // Sets all times to 0; the running phase continues. Called by its own thread, or while that is idle.
  void Reset();
  // Adds `ns`, distributed like the times of other threads, which worked instead of this idle one. Time of it that this clock
  // has counted was idle. Called by its own thread, or while that is idle.
  void TakeOver(const PhaseSums& others, int64_t ns, bool timed);
  // Also adds each ended span to `trace`, which must outlive its use; NULL stops that. Called by its own thread, or while that
  // is idle.
  void TraceInto(PhaseTrace* trace) { trace_ = trace; }
  bool running() const { return Get(running_); }    // [any]
  Phase current() const { return Get(phase_); }     // [any]
  int64_t since_ns() const { return Get(since_); }  // start of the running phase; [any]
  // Only ended spans; [any]. After the clock was set back (clocks.hpp), sums may be below 0, because the span before was too
  // long by the same amount. Spans are therefore added unchanged and only clamped here.
  int64_t ns(Phase phase) const { return std::max<int64_t>(Get(ns_[static_cast<size_t>(phase)]), 0); }
  int64_t total_ns() const {
    int64_t sum = 0;
    for (const auto& v : ns_) sum += Get(v);
    return std::max<int64_t>(sum, 0);
  }
  // The thread's CPU time is read at the end of a span if kCpuEveryNs have passed, because it costs about 1 us. It is divided
  // among the phases since the last reading by their duration; idle time gets the rest.
  static constexpr int64_t kCpuEveryNs = 1'000'000;
  int64_t cpu_ns(Phase phase) const { return cpu_ns_[static_cast<size_t>(phase)]; }
  int64_t cpu_wall_ns(Phase phase) const { return cpu_wall_ns_[static_cast<size_t>(phase)]; }  // its time with a CPU reading
  // Time since the first span, or since Reset, in which the thread was ready but had no core. Absent if the kernel does not
  // report it.
  std::optional<int64_t> RunQueueWaitNs() const;

 private:
  // Only one thread writes, so plain loads and stores suffice instead of read-modify-write.
  template <class T>
  static T Get(const std::atomic<T>& from) {
    return from.load(std::memory_order_relaxed);
  }
  template <class T>
  static void Set(std::atomic<T>& to, T value) {
    to.store(value, std::memory_order_relaxed);
  }

  void EndSpan() {
    const int64_t now = NowNs();
    if (now >= cpu_due_ns_) [[unlikely]]
      return EndSpanWithLook();
    EndSpanAt(now);
  }
  void EndSpanAt(int64_t now) {
    if (trace_ != nullptr) [[unlikely]]
      Trace(now);
    std::atomic<int64_t>& sum = ns_[static_cast<size_t>(Get(phase_))];
    Set(sum, Get(sum) + now - Get(since_));
    Set(since_, now);
  }
  void Trace(int64_t now);  // out of line, all three: keeps the clock's inlined code small
  void EndSpanWithLook();
  void LookAtCpuTime(int64_t cpu_ns, int64_t now);

  static inline thread_local PhaseClock* tls_running_clock = nullptr;

  std::array<std::atomic<int64_t>, kPhaseCount> ns_{};
  std::atomic<int64_t> since_{0};
  std::atomic<Phase> phase_{Phase::kIdle};
  std::atomic<bool> running_{false};
  PhaseTrace* trace_ = nullptr;
  int64_t cpu_due_ns_ = 0;  // the first end of a span at or after this time reads the CPU time
  // At the last reading; absent: there was none, or another thread has reset the sums since.
  std::optional<int64_t> cpu_seen_ns_;
  std::array<int64_t, kPhaseCount> seen_ns_{};
  pid_t thread_ = 0;  // the clock's thread; 0: it never ran
  int64_t queued_before_ns_ = 0;
  std::array<int64_t, kPhaseCount> cpu_ns_{}, cpu_wall_ns_{};
};

// Requires the clocks' threads to be idle.
PhaseSums SumOf(const std::vector<PhaseClock>& clocks);

// A span on the thread's clock; nests.
class PhaseSpan {
 public:
  PhaseSpan(PhaseClock& clock, Phase phase) : clock_(clock), was_running_(clock.running()) {
    if (was_running_)
      old_ = clock.Switch(phase);
    else
      clock.Start(phase);
  }
  ~PhaseSpan() {
    if (was_running_)
      clock_.Switch(old_);
    else
      clock_.Stop();
  }
  PhaseSpan(const PhaseSpan&) = delete;

 private:
  PhaseClock& clock_;
  bool was_running_;
  Phase old_ = Phase::kIdle;
};

}  // namespace backplane
