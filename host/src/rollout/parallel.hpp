// Work of the control thread cut into pieces that the granted cores share.
#pragma once

#include <cstdint>
#include <optional>

#include "rollout/pool.hpp"

namespace backplane {

class ParallelFor {
 public:
  explicit ParallelFor(unsigned threads) : threads_(threads) {}
  // Runs piece(context, i) once for each i < n, in any order, on the caller and on threads that start with the first call.
  // Returns when all have run. Pieces must not throw.
  void Run(uint64_t n, void (*piece)(void*, uint64_t), void* context);

 private:
  unsigned threads_;
  std::optional<RunnerPool> pool_;
};

}  // namespace backplane
