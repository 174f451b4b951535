// A worker as the trial sees it: a stream both ways, and how it was started and ended. One for each place where workers run.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace backplane {

class WorkerLink {
 public:
  virtual ~WorkerLink() = default;
  virtual int fd() const = 0;                 // a stream socket
  virtual void End() = 0;                     // kills it
  virtual std::string HowItEnded() = 0;       // once the stream has: "it was ended by signal 9"
  virtual std::string LastWords() const = 0;  // what it printed last; empty: nothing, or nobody knows
};

using WorkerLinks = std::vector<std::unique_ptr<WorkerLink>>;

// Workers that are on their way.
class StartedWorkers {
 public:
  virtual ~StartedWorkers() = default;
  virtual const std::string& token() const = 0;  // that their Hello has; empty: none
  // Call it once. Waits until all are connected, within a limit of its own, and calls `beat` meanwhile; none if cancelled.
  // Throws std::runtime_error if one cannot be had.
  virtual WorkerLinks Links(const std::atomic<bool>& cancelled, const std::function<void()>& beat) = 0;
};

}  // namespace backplane
