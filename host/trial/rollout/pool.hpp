// Persistent runner threads. The calling thread is runner 0, so a job for one runner wakes no thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "rollout/shared_pieces.hpp"

namespace backplane {

// The use of the threads in one Run.
struct PoolUse {
  double balance = 1;   // mean / largest CPU time of the runners
  double wall_eff = 1;  // their CPU time / (threads x wall time)
  double cpu_s = 0;     // their CPU time
};

class RunnerPool {
 public:
  // `pin`: during work, every runner stays on its own core and spins briefly before it sleeps. Spinning without a core of its
  // own is harmful, because the kernel may wake a thread on a spinning thread's core. Throws TrialFailure (BP_E_CONFIG) if more
  // threads are to be pinned than cores are granted, or if one cannot be started.
  explicit RunnerPool(unsigned threads, bool pin = false);
  ~RunnerPool();
  RunnerPool(const RunnerPool&) = delete;

  unsigned threads() const { return static_cast<unsigned>(runners_.size()); }
  bool pins() const { return pin_; }
  // Runs job(i) on the first `threads` runners while the others sleep, and returns after all have finished. Calls `waiting` on
  // the calling thread after its own part, while others may still work. Jobs must not throw, nor call Run.
  PoolUse Run(unsigned threads, const std::function<void(unsigned)>& job, const std::function<void()>& waiting);
  // Runs job(i, pieces) on the caller and on the first `threads` runners, if they arrive in time; each takes pieces of `n`
  // until none is left. Returns after all of them are done. Not timed. If each runner can have its own core, it stays there and
  // spins briefly for the next pieces, so an update of many steps wakes it once. `waiting` and jobs as in Run.
  void Share(unsigned threads, uint64_t n, const std::function<void(unsigned, SharedPieces&)>& job,
             const std::function<void()>& waiting);
  // True inside a job or a piece.
  bool running() const { return job_ != nullptr || sharing_ != nullptr; }

 private:
  struct alignas(64) Runner {
    // The upper half counts jobs of Run, the lower half shared work; both change at the end. Only the caller writes.
    std::atomic<uint32_t> round{0};
    int64_t cpu_ns = 0;           // in its last job
    std::atomic<int> core{kAny};  // the core it is pinned to
    std::thread thread;           // none for runner 0
  };

  void Work(unsigned index);
  void TimedJob(unsigned index);
  void ShareWith(unsigned index);
  void KeepOwnCores(unsigned threads);
  void KeepTo(unsigned index, int core);
  static void Wake(Runner& runner, uint32_t change);
  void Stop();

  static constexpr int kAny = -1;
  std::vector<int> cpus_;  // granted; if there are enough, runner i owns cpus_[i]
  bool pin_;
  bool own_cores_;  // each runner has its own core
  const std::function<void(unsigned)>* job_ = nullptr;
  const std::function<void(unsigned, SharedPieces&)>* sharing_ = nullptr;
  SharedPieces pieces_;
  alignas(64) std::atomic<uint32_t> busy_{0};
  std::atomic<bool> stop_{false};
  std::deque<Runner> runners_;  // a deque, because runners cannot be moved
};

// The first runners of a pool, which may call into an env and a learner's `act`.
struct Runners {
  Runners(RunnerPool& all) : pool(all), threads(all.threads()) {}  // implicit: a pool stands for all of its runners
  Runners(RunnerPool& all, unsigned first) : pool(all), threads(first) {}
  PoolUse Run(const std::function<void(unsigned)>& job, const std::function<void()>& waiting) const {
    return pool.Run(threads, job, waiting);
  }

  RunnerPool& pool;
  unsigned threads;
};

}  // namespace backplane
