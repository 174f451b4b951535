// A request to stop that reaches an iteration late: a learner with a large state gets kStopPatience_s to complete it.
#pragma once

#include <atomic>
#include <memory>

namespace backplane {

class LateStop {
 public:
  // Watches `stop`, which lives as long as the process, on a thread of its own.
  explicit LateStop(const std::atomic<bool>& stop);

  // Set kStopPatience_s after `stop`, by the clock of the trial.
  const std::atomic<bool>& flag() const { return *flag_; }

 private:
  const std::shared_ptr<std::atomic<bool>> flag_;  // shared with the thread, which does not end with this object
};

}  // namespace backplane
