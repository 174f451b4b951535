// Persistent runner threads. The calling thread is runner 0, so a pool of one wakes nobody.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace backplane {

class RunnerPool {
 public:
  explicit RunnerPool(unsigned threads);
  ~RunnerPool();
  RunnerPool(const RunnerPool&) = delete;

  unsigned threads() const { return static_cast<unsigned>(workers_.size()) + 1; }
  // Runs job(i) on every runner i and returns when all have finished. `waiting` is called on the calling thread when its own part
  // is done and others still work. Jobs must not throw.
  void Run(const std::function<void(unsigned)>& job, const std::function<void()>& waiting);

 private:
  void Work(unsigned index);

  std::mutex mutex_;
  std::condition_variable start_, done_;
  const std::function<void(unsigned)>* job_ = nullptr;
  uint64_t round_ = 0;
  unsigned busy_ = 0;
  bool stop_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace backplane
