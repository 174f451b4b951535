// Workers of other machines: the trial listens, and each worker calls it and says who it is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace backplane {

class WorkerListener {
 public:
  // Listens at a port of this machine's `address` that is free. Throws std::runtime_error.
  WorkerListener(const std::string& address, std::string token);
  ~WorkerListener();
  WorkerListener(const WorkerListener&) = delete;

  const std::string& at() const { return at_; }  // HOST:PORT
  struct Caller {
    uint64_t number = 0;  // as its Hello says, which stays to be read
    int fd = -1;          // the receiver's to close
  };
  // Waits so long for a worker that knows the token; whoever does not is hung up on.
  std::optional<Caller> Await(int timeout_ms);

 private:
  const std::string token_;
  int fd_ = -1;
  std::string at_;
};

// A stream to HOST:PORT. Throws std::runtime_error.
int CallTrial(const std::string& at);

}  // namespace backplane
