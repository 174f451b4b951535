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

// How threads have spent their time, added up.
struct PhaseSums {
  std::array<int64_t, kPhaseCount> ns{}, cpu_ns{}, cpu_wall_ns{};
};

// Time of one thread. At most one phase runs at a time: `Switch` ends the old one and starts the new one with one clock
// reading. Only its own thread calls anything but the readings; those that others may take at any time are marked [any], the
// rest are for when that thread is known to rest.
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
  // Returns the phase that was running, so that a nested one can go back to it.
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
  // As if it had timed nothing so far; the running phase goes on. By its own thread, or while that rests.
  void Reset();
  // Counts `ns` as other threads have spent theirs: those worked in the place of this one, which rests. What of it this clock
  // has timed itself, it has as idle. By its own thread, or while that rests.
  void TakeOver(const PhaseSums& others, int64_t ns, bool timed);
  // Each span that ends is added to `trace` too, which outlives its use; NULL: no longer. While the thread rests, or by itself.
  void TraceInto(PhaseTrace* trace) { trace_ = trace; }
  bool running() const { return Get(running_); }    // [any]
  Phase current() const { return Get(phase_); }     // [any]
  int64_t since_ns() const { return Get(since_); }  // when the running phase began; [any]
  // Of the spans that ended; [any]. Sums are below 0 where the clock was set back (clocks.hpp): the time of the span before it
  // was counted too long by as much, so that spans are added up as they are, and looked at only here.
  int64_t ns(Phase phase) const { return std::max<int64_t>(Get(ns_[static_cast<size_t>(phase)]), 0); }
  int64_t total_ns() const {
    int64_t sum = 0;
    for (const auto& v : ns_) sum += Get(v);
    return std::max<int64_t>(sum, 0);
  }
  // The thread's CPU time is looked at where a span ends and kCpuEveryNs have gone by, as that costs about 1 us. The phases
  // since the look before share it by how long they took, and what is idle gets what is left.
  static constexpr int64_t kCpuEveryNs = 1'000'000;
  int64_t cpu_ns(Phase phase) const { return cpu_ns_[static_cast<size_t>(phase)]; }
  int64_t cpu_wall_ns(Phase phase) const {
    return cpu_wall_ns_[static_cast<size_t>(phase)];
  }  // of its time, what was looked at
  // Since its first span, or since Reset, how long the thread was ready to run and no core was free. Absent where the kernel
  // does not say.
  std::optional<int64_t> RunQueueWaitNs() const;

 private:
  // One thread writes, so no read-modify-write has to be whole: these are plain loads and stores.
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
  void Trace(int64_t now);  // out of line, all three: the clock's own code stays small
  void EndSpanWithLook();
  void LookAtCpuTime(int64_t cpu_ns, int64_t now);

  static inline thread_local PhaseClock* tls_running_clock = nullptr;

  std::array<std::atomic<int64_t>, kPhaseCount> ns_{};
  std::atomic<int64_t> since_{0};
  std::atomic<Phase> phase_{Phase::kIdle};
  std::atomic<bool> running_{false};
  PhaseTrace* trace_ = nullptr;
  int64_t cpu_due_ns_ = 0;  // the next end of a span at or after this looks
  // Of the last look; absent: there was none, or another thread has set the sums to 0 since.
  std::optional<int64_t> cpu_seen_ns_;
  std::array<int64_t, kPhaseCount> seen_ns_{};
  pid_t thread_ = 0;  // whose clock it is; 0: it never ran
  int64_t queued_before_ns_ = 0;
  std::array<int64_t, kPhaseCount> cpu_ns_{}, cpu_wall_ns_{};
};

// Of clocks whose threads rest.
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
