// Accepts connections of workers on other machines; each connects and identifies itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace backplane {

class WorkerListener {
 public:
  // Listens at a free port of this machine's `address`. Throws std::runtime_error.
  WorkerListener(const std::string& address, std::string token);
  ~WorkerListener();
  WorkerListener(const WorkerListener&) = delete;

  const std::string& at() const { return at_; }  // HOST:PORT
  struct Caller {
    uint64_t number = 0;  // from its Hello, which stays in the stream
    int fd = -1;          // owned by the receiver
  };
  // Waits up to `timeout_ms` for a worker that knows the token; disconnects others.
  std::optional<Caller> Await(int timeout_ms);

 private:
  const std::string token_;
  int fd_ = -1;
  std::string at_;
};

// A stream to HOST:PORT. Throws std::runtime_error.
int CallTrial(const std::string& at);

}  // namespace backplane
