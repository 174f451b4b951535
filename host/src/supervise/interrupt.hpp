// Ctrl-C, as a count.
#pragma once

namespace backplane {

// While one exists, SIGINT, SIGTERM and SIGHUP are counted instead of ending the process, and waits return early; SIGPIPE is
// ignored: a reader of our output that has gone ends no batch. One at a time.
class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  static int Count();
};

}  // namespace backplane
