// Ctrl-C, as a count.
#pragma once

namespace backplane {

// While one exists, SIGINT, SIGTERM and SIGHUP are counted instead of ending the process, and waits return early. One at a time.
class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  static int Count();
};

}  // namespace backplane
