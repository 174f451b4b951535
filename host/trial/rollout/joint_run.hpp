// A job of several runners that ends early for all of them when one fails or the user asks to stop.
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
  // Runs work(runner, its clock) on all runners and returns when all have finished; false if one called Stop. Throws what the
  // first of them threw. clocks[0] is the caller's and runs already; it is idle while the others still work.
  bool Run(const Runners& runners, std::vector<PhaseClock>& clocks, const std::function<void(unsigned, PhaseClock&)>& work);
  // For work to look at between two steps; it then returns.
  bool stopped() const { return stop_.load(); }  // [any]
  void Stop() { stop_ = true; }                  // [any]
  // How well the last Run used its runners.
  const PoolUse& use() const { return use_; }

 private:
  void Fail(std::exception_ptr failure);

  PoolUse use_;
  std::mutex mutex_;  // guards failure_
  std::atomic<bool> stop_{false};
  std::exception_ptr failure_;
};

}  // namespace backplane
