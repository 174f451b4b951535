// The random generator of all plugins: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC11). It
// is counter-based, so a number depends on its purpose and never on earlier draws. Header only, no state outside bp_rng.
#ifndef BACKPLANE_RNG_H_
#define BACKPLANE_RNG_H_

#include <math.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { BP_PURPOSE_ENV_EPISODE = 1, BP_PURPOSE_ACT = 2, BP_PURPOSE_LEARNER = 3, BP_PURPOSE_SOURCE = 4, BP_PURPOSE_EVAL = 5 };

// out = Philox4x32-10(counter, key).
static inline void bp_philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]) {
  uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3], k0 = key[0], k1 = key[1];
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC unroll 10
#endif
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = (uint64_t)0xD2511F53u * c0, p1 = (uint64_t)0xCD9E8D57u * c2;
    const uint32_t n0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0, n2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
    c1 = (uint32_t)p1;
    c3 = (uint32_t)p0;
    c0 = n0;
    c2 = n2;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  out[0] = c0, out[1] = c1, out[2] = c2, out[3] = c3;
}

// The seed of item `n` of `row` for a purpose (BP_PURPOSE_*).
static inline uint64_t bp_seed(uint64_t seed, uint32_t purpose, uint32_t row, uint64_t n) {
  const uint32_t counter[4] = {(uint32_t)n, (uint32_t)(n >> 32), row, purpose};
  const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
  uint32_t out[4];
  bp_philox4x32(counter, key, out);
  return (uint64_t)out[1] << 32 | out[0];
}

// A stream of numbers: draw n is output words 0 and 1 of counter (n, 0, 0) under the stream's key.
typedef struct bp_rng {
  uint64_t key, n;
} bp_rng;

static inline uint64_t bp_rng_u64(bp_rng* rng) { return bp_seed(rng->key, 0, 0, rng->n++); }
// Uniform in [0, 1), 53 bits.
static inline double bp_rng_uniform(bp_rng* rng) { return (double)(bp_rng_u64(rng) >> 11) * 0x1.0p-53; }
static inline double bp_rng_range(bp_rng* rng, double low, double high) { return low + (high - low) * bp_rng_uniform(rng); }
// Uniform in 0 .. n-1 (high half of draw * n; the bias is below 2^-64 * n).
static inline uint64_t bp_rng_below(bp_rng* rng, uint64_t n) {
  __extension__ typedef unsigned __int128 wide;
  return (uint64_t)(((wide)bp_rng_u64(rng) * n) >> 64);
}
// Standard normal by Box and Muller; one value per two draws, so that draw counts do not depend on earlier draws.
static inline double bp_rng_normal(bp_rng* rng) {
  const double u = 1.0 - bp_rng_uniform(rng), v = bp_rng_uniform(rng);
  return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v);
}

#ifdef __cplusplus
}
#endif
#endif  // BACKPLANE_RNG_H_
