// The closed set of phases and their exclusive time per thread. Plugins may not add names, so any two runs compare.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "rollout/clocks.hpp"

namespace backplane {

enum class Phase : uint8_t {
  kEnvStep,
  kEnvReset,
  kObsTransfer,
  kInfer,
  kActTransfer,
  kBatchBuild,
  kUpdateForward,
  kUpdateBackward,
  kUpdateOptim,
  kSync,
  kEval,
  kCheckpoint,
  kMonitor,
  kIdle,
  kCount
};
inline constexpr size_t kPhaseCount = static_cast<size_t>(Phase::kCount);
inline constexpr std::array<std::string_view, kPhaseCount> kPhaseNames = {
    "env_step",        "env_reset",    "obs_transfer", "infer", "act_transfer", "batch_build", "update_forward",
    "update_backward", "update_optim", "sync",         "eval",  "checkpoint",   "monitor",     "idle"};

// A learner's tick says which phase it is; one outside the set counts as update_backward.
inline Phase PhaseFromName(std::string_view name) {
  for (size_t i = 0; i < kPhaseCount; ++i)
    if (kPhaseNames[i] == name) return static_cast<Phase>(i);
  return Phase::kUpdateBackward;
}

class PhaseTrace;

// Time of one thread. At most one phase runs at a time: `Switch` ends the old one and starts the new one with one clock
// reading. Only its own thread touches it; others read it while that thread is known to rest.
class PhaseClock {
 public:
  void Start(Phase phase) {
    phase_ = phase;
    since_ = NowNs();
    running_ = true;
  }
  // Returns the phase that was running, so that a nested one can go back to it.
  Phase Switch(Phase phase) {
    const int64_t now = NowNs();
    if (trace_ != nullptr) [[unlikely]]
      Trace(now);
    ns_[static_cast<size_t>(phase_)] += now - since_;
    since_ = now;
    const Phase old = phase_;
    phase_ = phase;
    return old;
  }
  void Stop() {
    if (!running_) return;
    const int64_t now = NowNs();
    if (trace_ != nullptr) [[unlikely]]
      Trace(now);
    ns_[static_cast<size_t>(phase_)] += now - since_;
    running_ = false;
  }
  // Each span that ends is added to `trace` too, which outlives its use; NULL: no longer. While the thread rests, or by itself.
  void TraceInto(PhaseTrace* trace) { trace_ = trace; }
  bool running() const { return running_; }
  Phase current() const { return phase_; }
  int64_t since_ns() const { return since_; }  // when the running phase began
  int64_t ns(Phase phase) const { return ns_[static_cast<size_t>(phase)]; }
  int64_t total_ns() const {
    int64_t sum = 0;
    for (int64_t v : ns_) sum += v;
    return sum;
  }

 private:
  void Trace(int64_t now);  // out of line: the clock's own code stays small

  std::array<int64_t, kPhaseCount> ns_{};
  int64_t since_ = 0;
  Phase phase_ = Phase::kIdle;
  bool running_ = false;
  PhaseTrace* trace_ = nullptr;
};

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
