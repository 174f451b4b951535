// Runs a job on several runners. It ends early for all of them if one fails or the user stops it.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <mutex>
#include <vector>

#include "rollout/phase_clock.hpp"
#include "rollout/pool.hpp"

namespace backplane {

class JointRun {
 public:
  // Runs work(runner, its clock) on all runners and returns after all have finished; false if one called Stop. Rethrows the
  // first exception. clocks[0] is the caller's and already runs; it is idle while the others still work.
  bool Run(const Runners& runners, std::vector<PhaseClock>& clocks, const std::function<void(unsigned, PhaseClock&)>& work);
  // Runs piece(i, a clock) for each i < n, shared by the runners, each of which counts the caller's phase. Not measured by
  // use(). Rethrows the first exception.
  void Share(const Runners& runners, std::vector<PhaseClock>& clocks, uint64_t n,
             const std::function<void(uint64_t, PhaseClock&)>& piece);
  // `work` must check this between two steps and return if true.
  bool stopped() const { return stop_.load(); }  // [any]
  void Stop() { stop_ = true; }                  // [any]
  // The use of the runners in the last Run.
  const PoolUse& use() const { return use_; }

 private:
  void Fail(std::exception_ptr failure);

  PoolUse use_;
  std::mutex mutex_;  // guards failure_
  std::atomic<bool> stop_{false};
  std::exception_ptr failure_;
};

}  // namespace backplane
