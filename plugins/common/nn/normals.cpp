#include "nn/normals.hpp"

#include <algorithm>
#include <cmath>

#include "nn/simd.hpp"

namespace backplane::nn {
namespace {

constexpr int kBlocks = 16;  // of Philox at a time, four numbers each

using Words = uint32_t[kBlocks];

// Loops over blocks are not unrolled: the compiler would unroll them before vectorising and then fail to vectorise.

// One word of each block times `factor`: both halves of the products.
BP_NN_INLINE void WideProducts(const Words& words, uint32_t factor, Words* high, Words* low) {
#pragma GCC unroll 1
  for (int b = 0; b < kBlocks; ++b) {
    const uint64_t product = uint64_t{words[b]} * factor;
    (*high)[b] = static_cast<uint32_t>(product >> 32);
    (*low)[b] = static_cast<uint32_t>(product);
  }
}

// Output words of blocks first .. first + 15: word w of block b at [w][b].
BP_NN_INLINE void PhiloxWords(uint64_t key, uint64_t first, Words* out) {
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
#pragma GCC unroll 1
  for (int b = 0; b < kBlocks; ++b) {
    const uint64_t block = first + static_cast<uint64_t>(b);
    out[0][b] = static_cast<uint32_t>(block), out[1][b] = static_cast<uint32_t>(block >> 32), out[2][b] = out[3][b] = 0;
  }
  for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
    Words high0, high2, low0, low2;
#pragma GCC unroll 1
    for (int b = 0; b < kBlocks; ++b) out[1][b] ^= k0, out[3][b] ^= k1;
    WideProducts(out[0], 0xD2511F53u, &high0, &low0);
    WideProducts(out[2], 0xCD9E8D57u, &high2, &low2);
#pragma GCC unroll 1
    for (int b = 0; b < kBlocks; ++b) {
      out[0][b] = high2[b] ^ out[1][b], out[1][b] = low2[b];
      out[2][b] = high0[b] ^ out[3][b], out[3][b] = low0[b];
    }
  }
}

template <class To, class From>
BP_NN_INLINE To Bits(From from) {
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

// Natural logarithm of 2^-25 <= u <= 1: u = 2^e m with m around 1, log m = 2 artanh((m - 1) / (m + 1)) as a series.
BP_NN_INLINE float Log(float u) {
  constexpr int32_t kRootOfHalf = 0x3f3504f3;
  const int32_t bits = Bits<int32_t>(u) - kRootOfHalf, e = bits >> 23;
  const float m = Bits<float>((bits & 0x7fffff) + kRootOfHalf), s = (m - 1) / (m + 1), z = s * s;
  return static_cast<float>(e) * 0.693147181f + 2 * s * (1 + z * (1.f / 3 + z * (1.f / 5 + z * (1.f / 7 + z * (1.f / 9)))));
}

// Box and Muller: two words give two normals. The angle is the second word in turns, -1/2 to 1/2. Taylor series are used up to
// an eighth of a turn on both sides of the nearest quarter.
BP_NN_INLINE void Pair(uint32_t first, uint32_t second, float* a, float* b) {
  const float u = (static_cast<float>(static_cast<int32_t>(first >> 8)) + 0.5f) * 0x1.0p-24f;
  const float turn = static_cast<float>(static_cast<int32_t>(second)) * 0x1.0p-32f;
  const auto quarter = static_cast<int32_t>(4 * turn + (turn < 0 ? -0.5f : 0.5f));
  const float x = (turn - 0.25f * static_cast<float>(quarter)) * 6.28318531f, y = x * x;
  const float sine = x * (1 + y * (-1.f / 6 + y * (1.f / 120 + y * (-1.f / 5040 + y * (1.f / 362880)))));
  const float cosine = 1 + y * (-0.5f + y * (1.f / 24 + y * (-1.f / 720 + y * (1.f / 40320))));
  const bool odd = quarter & 1;
  const float c = odd ? sine : cosine, s = odd ? cosine : sine;
  const float radius = std::sqrt(-2 * Log(u));
  *a = radius * ((quarter + 1) & 2 ? -c : c);
  *b = radius * (quarter & 2 ? -s : s);
}

// Draws first .. first + 15 of a bp_rng.
struct DrawWords {
  template <Isa isa>
  static BP_NN_INLINE void Run(uint64_t key, uint64_t first, Words* out) {
    PhiloxWords(key, first, out);
  }
};

struct NormalsLoop {
  template <Isa isa>
  static BP_NN_INLINE void Run(uint64_t key, int64_t begin, int64_t n, float* out) {
    Words words[4];
    float run[4][kBlocks];
    for (int64_t i = 0; i < n; i += kNormalsRun) {
      PhiloxWords(key, static_cast<uint64_t>((begin + i) / 4), words);
      for (int half = 0; half < 4; half += 2) {
        for (int b = 0; b < kBlocks; ++b) Pair(words[half][b], words[half + 1][b], &run[half][b], &run[half + 1][b]);
      }
      std::copy_n(&run[0][0], std::min(kNormalsRun, n - i), out + i);
    }
  }
};

}  // namespace

void FillNormals(uint64_t key, int64_t begin, int64_t n, float* out) { Dispatch<NormalsLoop>(key, begin, n, out); }

void FillNormals(bp_rng* rng, int64_t n, double* out) {
  for (int64_t begin = 0; begin < n; begin += kBlocks / 2) {
    Words words[4];
    Dispatch<DrawWords>(rng->key, rng->n, words);
    const auto uniform = [&](int64_t draw) {
      return static_cast<double>((uint64_t{words[1][draw]} << 32 | words[0][draw]) >> 11) * 0x1.0p-53;
    };
    const int64_t count = std::min<int64_t>(n - begin, kBlocks / 2);
    for (int64_t i = 0; i < count; ++i)
      out[begin + i] = std::sqrt(-2.0 * std::log(1.0 - uniform(2 * i))) * std::cos(6.283185307179586 * uniform(2 * i + 1));
    rng->n += static_cast<uint64_t>(2 * count);
  }
}

}  // namespace backplane::nn
