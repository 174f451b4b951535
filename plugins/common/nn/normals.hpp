// Standard normals of a counter-based stream (Philox, backplane/rng.h) in bulk and in any order, for parameter noise. Drawing
// numbers one by one would cost more than using them.
#pragma once

#include <cstdint>

#include "backplane/rng.h"

namespace backplane::nn {

// Runs of numbers start at multiples of this.
constexpr int64_t kNormalsRun = 64;

// out [n] = numbers begin .. begin + n - 1 of the stream of `key`; `begin` is a multiple of kNormalsRun. Each number depends
// only on the key and its index, has float's precision, never exceeds 5.9, and has equal bits on every processor.
void FillNormals(uint64_t key, int64_t begin, int64_t n, float* out);

// The next n results of bp_rng_normal, with the same bits.
void FillNormals(bp_rng* rng, int64_t n, double* out);

}  // namespace backplane::nn
