// Persistent runner threads. The calling thread is runner 0, so a pool of one wakes nobody.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace backplane {

// How well one Run used its threads.
struct PoolUse {
  double balance = 1;   // mean / largest CPU time of the runners
  double wall_eff = 1;  // their CPU time / (threads x wall time)
};

class RunnerPool {
 public:
  // `pin`: while it works, every runner keeps to a core of its own, and waits a moment before it sleeps. Without a core of its
  // own it must not: the kernel may put a woken thread on the very core where another one spins. Throws TrialFailure
  // (BP_E_CONFIG) if more threads are to be pinned than cores are granted.
  explicit RunnerPool(unsigned threads, bool pin = false);
  ~RunnerPool();
  RunnerPool(const RunnerPool&) = delete;

  unsigned threads() const { return static_cast<unsigned>(workers_.size()) + 1; }
  // Runs job(i) on every runner i and returns when all have finished. `waiting` is called on the calling thread when its own
  // part is done and others may still work. Jobs must not throw.
  void Run(const std::function<void(unsigned)>& job, const std::function<void()>& waiting);
  const PoolUse& last_use() const { return use_; }

 private:
  struct alignas(64) CpuTime {
    int64_t ns = 0;
  };

  void Work(unsigned index);
  void TimedJob(unsigned index);
  void AwaitChange(const std::atomic<uint32_t>& value, uint32_t old) const;
  void Pin(unsigned index) const;

  std::vector<int> cpus_;  // [threads]; empty: not pinned
  const std::function<void(unsigned)>* job_ = nullptr;
  alignas(64) std::atomic<uint32_t> round_{0};
  alignas(64) std::atomic<uint32_t> busy_{0};
  std::atomic<bool> stop_{false};
  std::vector<CpuTime> cpu_;  // [threads], of the last Run
  PoolUse use_;
  std::vector<std::thread> workers_;
};

}  // namespace backplane
