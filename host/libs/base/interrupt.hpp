// Ctrl-C, as a count, with an answer at the terminal whatever the process waits for.
#pragma once

#include <stdexcept>

namespace backplane {

// During its life, SIGINT, SIGTERM and SIGHUP are counted instead of ending the process, and waits return early. SIGPIPE is
// ignored, so that a batch outlives the reader of its output. Only one scope may exist.
//
// Each signal must be answered within a second. If the loop of the process does not do that, a timer's handler does:
//   the first one:  it prints that the process is stopping, unless Acknowledge() was called
//   the next one:   it kills the child processes (a shim kills its trial) and ends this one with exit code 130, unless
//                   Count() was called since, which means that the loop ends them itself
class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;

  static int Count();  // 0 without a scope
  // Whether a signal was counted by this scope or an earlier one. An engine outlives the scope of its batch.
  static bool AnyCame();
  // The loop has printed its answer.
  static void Acknowledge();
};

// Leaves a wait that a signal has ended. The owner of the scope catches it.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("stopped") {}
  static void ThrowIf(bool interrupted = InterruptScope::Count() > 0) {
    if (interrupted) throw Interrupted();
  }
};

}  // namespace backplane
