// Random orthonormal vectors, for initial weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backplane/rng.h"

namespace backplane::nn {

// The Q of a QR decomposition of normals whose R has a positive diagonal. Equal bits on every processor.
class Orthonormal {
 public:
  // Draws vectors * length normals.
  Orthonormal(bp_rng* rng, int64_t vectors, int64_t length);
  double At(int64_t vector, int64_t k) const { return q_[static_cast<size_t>(vector * stride_ + k / kLanes)].of[k % kLanes]; }

  static constexpr int64_t kLanes = 8;
  typedef double Doubles __attribute__((vector_size(kLanes * sizeof(double))));
  struct alignas(kLanes * sizeof(double)) Lanes {
    Doubles of;
  };

 private:
  int64_t stride_;  // of vectors in Lanes; zeros follow each vector
  std::vector<Lanes> q_;
};

}  // namespace backplane::nn
