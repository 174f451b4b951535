// The trial's view of a worker: a stream both ways, and control of its process. One class per place where workers run.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rollout/shared_memory.hpp"

namespace backplane {

class WorkerLink {
 public:
  virtual ~WorkerLink() = default;
  virtual int fd() const = 0;                 // a stream socket
  virtual void End() = 0;                     // kills it
  virtual std::string HowItEnded() = 0;       // after the end of the stream: "it was ended by signal 9"
  virtual std::string LastWords() const = 0;  // its last output; empty: none, or unknown
};

using WorkerLinks = std::vector<std::unique_ptr<WorkerLink>>;

// Workers that are starting.
class StartedWorkers {
 public:
  virtual ~StartedWorkers() = default;
  virtual const std::string& token() const = 0;       // part of their Hello; empty: none
  virtual SharedMemory* memory() { return nullptr; }  // shared with the trial; NULL: they may be on other machines
  // Call it once. Waits until all are connected, within its own time limit, and calls `beat` meanwhile. Empty if cancelled.
  // Throws std::runtime_error if a worker is unavailable.
  virtual WorkerLinks Links(const std::atomic<bool>& cancelled, const std::function<void()>& beat) = 0;
  // Starts worker `number`, from 1 on, again after it was lost. NULL: it is not available now, or cancelled.
  virtual std::unique_ptr<WorkerLink> Restart(uint64_t number, const std::atomic<bool>& cancelled,
                                              const std::function<void()>& beat) = 0;
};

}  // namespace backplane
