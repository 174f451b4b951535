// Runs cases in a child process and waits for its end.
#pragma once

#include <functional>
#include <string>

#include "validate/plugin_call.hpp"

namespace backplane {

struct ProcessLimits {
  double limit_s;                 // wall time; up to twice that if a busy machine gave the process less CPU time
  std::function<void()> on_slow;  // called once, after kSlow_s; may be empty
};
inline constexpr double kSlow_s = 2;

struct EndedProcess {
  std::string heard;    // the content of its pipe
  std::string printed;  // the end of its output
  bool late = false;    // killed at its limit
  CallSet stuck;        // functions that it was in at the end; none: each call returned
  int wait_status = 0;
};

// Forks and runs `child`, which writes into the descriptor and does not return, in a process group of its own. Returns at its
// end, at its limit, or after SIGINT or SIGTERM (StoppedBySignal). The group has ended then. Throws std::runtime_error if no
// process can be started.
EndedProcess RunProcess(const std::function<void(int pipe_end)>& child, const ProcessLimits& limits);

// While an object exists, SIGINT and SIGTERM end RunProcess instead of this process. A received signal is raised again at the
// end.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
};
// Since the construction of the last StopSignals.
bool StoppedBySignal();

}  // namespace backplane
