// Protects process and thread state that plugins share with each other and with the host: floating-point modes, locale, working
// directory, signals, umask. A plugin must leave it unchanged; changes are restored and remembered.
//
// Rounding and flush-to-zero are checked after every call of a plugin (CallPlugin), because they would affect the next call on
// the thread. The rest costs system calls. It is checked once per iteration, and around each of a trial's first calls, which
// distinguishes env and learner.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace backplane {

// Records the current state as the one to restore. Call once, on the control thread, before the first plugin is loaded.
void KeepProcessState();

// Possible culprits of changes between two checks: "env.name or learner.name". Set before threads exist.
void NameSuspects(const std::string& ids);
const std::string& Suspects();  // [any]

// Restores the calling thread's state (floating-point control, locale, signal mask), or the whole process's. `who` changed it:
// a plugin's id or the suspects. [any]
void RestoreThreadState(const std::string& who);
// Call while env and learner are idle, or in a closely watched call.
void RestoreProcessState(const std::string& who);
inline void RestoreState(const std::string& who) {
  RestoreThreadState(who);
  RestoreProcessState(who);
}

// Serializes and checks the next calls of env and learner: some dozens, or until 50 ms have passed and both were seen since.
void WatchClosely();
// The same if the culprit of a change is unknown. Call while env and learner are idle and all state is restored, so that the
// next call is not blamed for an earlier one. [control]
void WatchCloselyIfInDoubt();
// Never blocks the calling thread's calls for that, because a monitor's may hang.
void WatchNeverWaits();

// Enclose a call on a monitor's thread. Other plugins may be inside calls, so process state is not restored. A change during
// the call is noted. If the next RestoreProcessState still finds it, it reports all plugins that were inside a call meanwhile.
void BeginMonitorCall(const std::string& id);
void EndMonitorCall();  // does nothing if none has begun

// While it lives, env and learner are inside no call. [control]
class ProcessChecksPaused {
 public:
  ProcessChecksPaused();
  ~ProcessChecksPaused();
  ProcessChecksPaused(const ProcessChecksPaused&) = delete;
};

// Sentences with plugin and change, each once per process.
std::vector<std::string> StateChanges();  // [any]

namespace process_state_detail {

#if defined(__x86_64__)
constexpr uint32_t kControlBits = 0xffc0, kCalm = 0x1f80;  // without status flags, which any computation may set
inline bool FloatChanged() { return ((__builtin_ia32_stmxcsr() ^ kCalm) & kControlBits) != 0; }
#elif defined(__aarch64__)
inline bool FloatChanged() {
  uint64_t fpcr;
  asm volatile("mrs %0, fpcr" : "=r"(fpcr));
  return fpcr != 0;
}
#else
inline bool FloatChanged() { return false; }
#endif

extern constinit std::atomic<int> closely_left;
bool BeginClosely();
void EndCall(bool closely);

}  // namespace process_state_detail

// Encloses a plugin's call.
class StateWatch {
 public:
  StateWatch() {
    if (process_state_detail::closely_left.load(std::memory_order_relaxed) > 0) [[unlikely]]
      closely_ = process_state_detail::BeginClosely();
  }
  ~StateWatch() {
    if (closely_ || process_state_detail::FloatChanged()) [[unlikely]]
      process_state_detail::EndCall(closely_);
  }
  StateWatch(const StateWatch&) = delete;

 private:
  bool closely_ = false;
};

// The cheap part of RestoreThreadState.
inline void RestoreFloatModes(const char* who) {
  if (process_state_detail::FloatChanged()) [[unlikely]]
    RestoreThreadState(who);
}

}  // namespace backplane
