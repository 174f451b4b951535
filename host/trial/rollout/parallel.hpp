// Divides work of the control thread into pieces for all threads of the trial.
#pragma once

#include <cstdint>
#include <vector>

#include "rollout/phase_clock.hpp"
#include "rollout/pool.hpp"

namespace backplane {

class ParallelFor {
 public:
  // clocks[i] belongs to runner i of the pool; both outlive this.
  ParallelFor(RunnerPool& pool, std::vector<PhaseClock>& clocks) : pool_(pool), clocks_(clocks) {}
  // Runs piece(context, i) once for each i < n, in any order, on all runners (RunnerPool::Share); inside a job of the pool,
  // only on the caller. Returns after all have run. Meanwhile the runners' clocks count the caller's phase, and idle while they
  // wait. Pieces must not throw.
  void Run(uint64_t n, void (*piece)(void*, uint64_t), void* context);

 private:
  RunnerPool& pool_;
  std::vector<PhaseClock>& clocks_;
};

}  // namespace backplane
