// Persistent runner threads. The calling thread is runner 0, so a job for one runner wakes nobody.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "rollout/shared_pieces.hpp"

namespace backplane {

// How well one Run used its threads.
struct PoolUse {
  double balance = 1;   // mean / largest CPU time of the runners
  double wall_eff = 1;  // their CPU time / (threads x wall time)
  double cpu_s = 0;     // their CPU time
};

class RunnerPool {
 public:
  // `pin`: while it works, every runner keeps to a core of its own, and waits a moment before it sleeps. Without a core of its
  // own it must not: the kernel may put a woken thread on the very core where another one spins. Throws TrialFailure
  // (BP_E_CONFIG) if more threads are to be pinned than cores are granted, or if one cannot be started.
  explicit RunnerPool(unsigned threads, bool pin = false);
  ~RunnerPool();
  RunnerPool(const RunnerPool&) = delete;

  unsigned threads() const { return static_cast<unsigned>(runners_.size()); }
  // Runs job(i) on the first `threads` runners, the others sleep on, and returns when all have finished. `waiting` is called on
  // the calling thread when its own part is done and others may still work. Jobs must not throw, nor call Run.
  PoolUse Run(unsigned threads, const std::function<void(unsigned)>& job, const std::function<void()>& waiting);
  // Runs job(i, pieces) on the caller and on those of the first `threads` runners that come in time; each takes pieces of `n`
  // until none is left. Returns when all that were taken are done. Not timed. Where each runner can have a core of its own they
  // keep to it and wait a moment for the next pieces before they sleep: over an update of many steps they are woken once.
  // `waiting` as in Run, and so for jobs.
  void Share(unsigned threads, uint64_t n, const std::function<void(unsigned, SharedPieces&)>& job,
             const std::function<void()>& waiting);
  // True for whoever asks from within a job or a piece.
  bool running() const { return job_ != nullptr || sharing_ != nullptr; }

 private:
  struct alignas(64) Runner {
    // The upper half counts jobs of Run, the lower half what was shared; both change at the end. Only the caller writes.
    std::atomic<uint32_t> round{0};
    int64_t cpu_ns = 0;           // of its last job
    std::atomic<int> core{kAny};  // to which it keeps
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
  std::vector<int> cpus_;  // granted; those of the first runners are their own where there is one for each
  bool pin_;
  bool own_cores_;  // there is one for each
  const std::function<void(unsigned)>* job_ = nullptr;
  const std::function<void(unsigned, SharedPieces&)>* sharing_ = nullptr;
  SharedPieces pieces_;
  alignas(64) std::atomic<uint32_t> busy_{0};
  std::atomic<bool> stop_{false};
  std::deque<Runner> runners_;  // which cannot be moved
};

// The first runners of a pool: those that may call into an env and a learner's `act`.
struct Runners {
  Runners(RunnerPool& all) : pool(all), threads(all.threads()) {}  // implicit: a pool is all of its runners
  Runners(RunnerPool& all, unsigned first) : pool(all), threads(first) {}
  PoolUse Run(const std::function<void(unsigned)>& job, const std::function<void()>& waiting) const {
    return pool.Run(threads, job, waiting);
  }

  RunnerPool& pool;
  unsigned threads;
};

}  // namespace backplane
