#include "nn/orthonormal.hpp"

#include <cmath>

#include "nn/normals.hpp"
#include "nn/simd.hpp"

namespace backplane::nn {
namespace {

using Lanes = Orthonormal::Lanes;

constexpr int64_t kSums = 4;  // at the same time, because each addition waits for the one before

// `n` counts Lanes. The order of the sum does not depend on the processor.
BP_NN_INLINE double Dot(const Lanes* u, const Lanes* v, int64_t n) {
  Orthonormal::Doubles sums[kSums] = {};
  int64_t k = 0;
  for (; k + kSums <= n; k += kSums)
    for (int64_t i = 0; i < kSums; ++i) sums[i] += u[k + i].of * v[k + i].of;
  for (; k < n; ++k) sums[0] += u[k].of * v[k].of;
  const Orthonormal::Doubles all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  double sum = 0;
  for (int64_t lane = 0; lane < Orthonormal::kLanes; ++lane) sum += all[lane];
  return sum;
}

// Removes from v its projection on each of the orthonormal vectors u, one after another (modified Gram-Schmidt).
BP_NN_INLINE void RemoveProjections(const Lanes* u, int64_t vectors, int64_t n, Lanes* v) {
  for (const Lanes* const end = u + vectors * n; u < end; u += n) {
    const double dot = Dot(u, v, n);
    for (int64_t k = 0; k < n; ++k) v[k].of -= dot * u[k].of;
  }
}

// Makes v, which follows the vectors u, orthogonal to them and of length 1. If little of v is left, the errors are large next
// to it, and v is projected again (Kahan and Parlett's "twice is enough").
struct Orthonormalize {
  template <Isa isa>
  static BP_NN_INLINE void Run(Lanes* u, int64_t vectors, int64_t n) {
    Lanes* v = u + vectors * n;
    const double before = Dot(v, v, n);
    RemoveProjections(u, vectors, n, v);
    if (2 * Dot(v, v, n) < before) RemoveProjections(u, vectors, n, v);
    const double length = std::sqrt(Dot(v, v, n));
    for (int64_t k = 0; k < n; ++k) v[k].of /= length;
  }
};

}  // namespace

Orthonormal::Orthonormal(bp_rng* rng, int64_t vectors, int64_t length)
    : stride_((length + kLanes - 1) / kLanes), q_(static_cast<size_t>(vectors * stride_)) {
  std::vector<double> normals(static_cast<size_t>(length));
  for (int64_t i = 0; i < vectors; ++i) {
    FillNormals(rng, length, normals.data());
    for (int64_t k = 0; k < length; ++k)
      q_[static_cast<size_t>(i * stride_ + k / kLanes)].of[k % kLanes] = normals[static_cast<size_t>(k)];
    Dispatch<Orthonormalize>(q_.data(), i, stride_);
  }
}

}  // namespace backplane::nn
