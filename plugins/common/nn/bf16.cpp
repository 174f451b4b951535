#include "nn/bf16.hpp"

#include <algorithm>

#include "nn/simd.hpp"

namespace backplane::nn {
namespace {

constexpr int kVector = 16;  // floats, or words
typedef int16_t Halves __attribute__((vector_size(64)));
typedef float Floats __attribute__((vector_size(64)));

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
// The instruction by name: GCC's intrinsics are not inlined into a body that is compiled for several instruction sets.
BP_NN_INLINE void Round(const Floats& low, const Floats& high, Halves* out) {
  Halves rounded;
  asm("vcvtne2ps2bf16 %2, %1, %0" : "=v"(rounded) : "v"(high), "v"(low));
  *out = rounded;
}
#else
BP_NN_INLINE void Round(const Floats&, const Floats&, Halves* out) { *out = {}; }  // never called
#endif

// Interleaves `low` and `high`: pair c consists of number c of both.
BP_NN_INLINE void RoundToPairs(const Floats& low, const Floats& high, Halves* out) {
  Halves x;
  Round(low, high, &x);
  *out = __builtin_shufflevector(x, x, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23, 8, 24, 9, 25, 10, 26, 11, 27, 12,
                                 28, 13, 29, 14, 30, 15, 31);
}

struct InRows {
  template <Isa isa>
  static BP_NN_INLINE void Run(const float* x, int64_t rows, int64_t n, float* words) {
    for (int64_t r = 0; r < rows; ++r, x += n, words += WordsFor(n)) {
      Floats low, high;
      Halves pairs;
      int64_t i = 0;
      for (; i + 2 * kVector <= n; i += 2 * kVector) {
        Load(x + i, &low), Load(x + i + kVector, &high);
        Round(low, high, &pairs);
        Store(pairs, words + i / 2);
      }
      if (i == n) continue;
      float rest[2 * kVector] = {};
      std::copy(x + i, x + n, rest);
      Load(rest, &low), Load(rest + kVector, &high);
      Round(low, high, &pairs);
      Store(pairs, rest);
      std::copy_n(rest, WordsFor(n - i), words + i / 2);
    }
  }
};

struct InColumns {
  template <Isa isa>
  static BP_NN_INLINE void Run(const float* x, int64_t rows, int64_t n, int64_t x_row, float* words, int64_t words_row) {
    for (int64_t r = 0; r < rows; r += 2, x += 2 * x_row, words += words_row) {
      Floats low, high = {};
      Halves pairs;
      const bool single = r + 1 == rows;
      int64_t i = 0;
      for (; i + kVector <= n; i += kVector) {
        Load(x + i, &low);
        if (!single) Load(x + x_row + i, &high);
        RoundToPairs(low, high, &pairs);
        Store(pairs, words + i);
      }
      if (i == n) continue;
      float rest[2 * kVector] = {};
      std::copy(x + i, x + n, rest);
      if (!single) std::copy(x + x_row + i, x + x_row + n, rest + kVector);
      Load(rest, &low), Load(rest + kVector, &high);
      RoundToPairs(low, high, &pairs);
      Store(pairs, rest);
      std::copy_n(rest, n - i, words + i);
    }
  }
};

}  // namespace

bool HasBf16() { return CpuHasBf16(); }

void PairsInRows(const float* x, int64_t rows, int64_t n, float* words) { DispatchBf16<InRows>(x, rows, n, words); }

void PairsInColumns(const float* x, int64_t rows, int64_t n, int64_t x_row, float* words, int64_t words_row) {
  DispatchBf16<InColumns>(x, rows, n, x_row, words, words_row);
}

}  // namespace backplane::nn
