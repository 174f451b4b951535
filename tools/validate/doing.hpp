// The present work of a case, in memory that outlives its process: it explains a crash or a hang.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "validate/plugin_call.hpp"

namespace backplane {

struct Doing {
  char what[512] = {};   // "step of rows [0, 6)"
  char fault[512] = {};  // the place of a write that no plugin may make; empty: none
  bool leaving = false;  // by exit(kLeft): another code is not the case's own
  // Threads in each function of the plugin, and how often any was entered.
  std::atomic<uint32_t> inside[static_cast<size_t>(PluginCall::kEnd)] = {};
  std::atomic<uint64_t> entered = 0;
  std::atomic<uint64_t> called = 0;  // a bit for each PluginCall

  CallSet Inside() const;
  CallSet Called() const;
};

// Memory that a child process shares with this one; the functions below write to it from now on.
Doing* ShareDoing();
// Clears the last action.
void BeginDoing();
void NowDoing(const std::string& what);
std::string LastDoing();
void NowLeaving();

// While a function of the plugin runs. [any thread]
class InCall {
 public:
  explicit InCall(PluginCall call);
  ~InCall() { inside_.fetch_sub(1, std::memory_order_relaxed); }
  InCall(const InCall&) = delete;

 private:
  std::atomic<uint32_t>& inside_;
};

}  // namespace backplane
