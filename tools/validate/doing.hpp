// The current action of a case, in memory that outlives its process, to explain a crash or hang.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "validate/plugin_call.hpp"

namespace backplane {

struct Doing {
  char what[512] = {};   // "step of rows [0, 6)"
  char fault[512] = {};  // the place of a forbidden write; empty: none
  bool leaving = false;  // by exit(kLeft): any other code is not the case's own
  // Number of threads in each function of the plugin, and number of entries into any.
  std::atomic<uint32_t> inside[static_cast<size_t>(PluginCall::kEnd)] = {};
  std::atomic<uint64_t> entered = 0;
  std::atomic<uint64_t> called = 0;  // a bit per PluginCall

  CallSet Inside() const;
  CallSet Called() const;
};

// Memory shared with a child process; the functions below write to it from now on.
Doing* ShareDoing();
// Clears the last action.
void BeginDoing();
void NowDoing(const std::string& what);
std::string LastDoing();
void NowLeaving();

// Marks a running function of the plugin. [any thread]
class InCall {
 public:
  explicit InCall(PluginCall call);
  ~InCall() { inside_.fetch_sub(1, std::memory_order_relaxed); }
  InCall(const InCall&) = delete;

 private:
  std::atomic<uint32_t>& inside_;
};

}  // namespace backplane
