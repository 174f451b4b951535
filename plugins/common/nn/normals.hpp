// Standard normals of a counter-based stream (Philox, backplane/rng.h) in bulk and in any order: what parameter noise needs,
// where drawing one number at a time would cost more than what is done with it.
#pragma once

#include <cstdint>

namespace backplane::nn {

// Runs of numbers begin at multiples of this.
constexpr int64_t kNormalsRun = 64;

// out [n] = numbers begin .. begin + n - 1 of the stream of `key`; `begin` is a multiple of kNormalsRun. A number is a function
// of the key and its place alone, has float's precision, never exceeds 5.9, and has the same bits on every processor.
void FillNormals(uint64_t key, int64_t begin, int64_t n, float* out);

}  // namespace backplane::nn
