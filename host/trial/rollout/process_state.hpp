// State of the process and of its threads that plugins share with each other and with the host: floating-point modes, locale,
// working directory, signals, umask. A plugin leaves it as it finds it; what it changes is put back and remembered.
//
// Rounding and flush-to-zero are looked at after every call of a plugin (CallPlugin), as the next one on the thread would
// compute with them. The rest costs system calls: it is looked at once an iteration, and around each of a trial's first calls,
// which tells env and learner apart.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace backplane {

// Takes what is there now as what has to stay. Once, on the control thread, before the first plugin is loaded.
void KeepProcessState();

// Who may have changed what is found between two looks: "env.name or learner.name". Named before there are threads.
void NameSuspects(const std::string& ids);
const std::string& Suspects();  // [any]

// Puts back what a plugin changed of the calling thread (floating-point control, locale, signal mask), or of the whole process.
// `who` changed it: a plugin's id or the suspects. [any]
void RestoreThreadState(const std::string& who);
// Of the process: where env and learner rest, or in a call that is looked at closely.
void RestoreProcessState(const std::string& who);
inline void RestoreState(const std::string& who) {
  RestoreThreadState(who);
  RestoreProcessState(who);
}

// The next calls of env and learner are made one at a time and looked at one by one: some dozens, or until 50 ms have passed
// and both were seen since.
void WatchClosely();
// The same if something was found since of which it is not known who did it. Where env and learner rest and all state is
// restored: what an earlier call has left would be laid to the next one. [control]
void WatchCloselyIfInDoubt();
// The calling thread's calls are never held up for that: a monitor's may hang.
void WatchNeverWaits();

// Stand on a monitor's thread around one of its calls. Others may be inside calls of theirs, so nothing of the process is put
// back for it: what is there after the call and was not before is noted, and the next RestoreProcessState, if it still finds
// it, tells it with the names of all that were inside a call meanwhile.
void BeginMonitorCall(const std::string& id);
void EndMonitorCall();  // nothing if none has begun

// As long as it lives, env and learner are inside no call. [control]
class ProcessChecksPaused {
 public:
  ProcessChecksPaused();
  ~ProcessChecksPaused();
  ProcessChecksPaused(const ProcessChecksPaused&) = delete;
};

// Sentences that name plugin and change, each once since the process began.
std::vector<std::string> StateChanges();  // [any]

namespace process_state_detail {

#if defined(__x86_64__)
constexpr uint32_t kControlBits = 0xffc0, kCalm = 0x1f80;  // all but the flags of what happened, which any sum may set
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

// Stands around a plugin's call.
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

// The part of RestoreThreadState that costs next to nothing.
inline void RestoreFloatModes(const char* who) {
  if (process_state_detail::FloatChanged()) [[unlikely]]
    RestoreThreadState(who);
}

}  // namespace backplane
