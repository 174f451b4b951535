// Numbers rounded to bfloat16 (nearest, ties to even) in words of two, the operands of the instruction vdpbf16ps on processors
// with avx512_bf16. It multiplies exactly, adds in float32 and treats denormal numbers as 0.
#pragma once

#include <cstdint>

namespace backplane::nn {

// True if the processor supports it; required for the functions below and for products with Precision::kBf16.
bool HasBf16();

// An odd last number is paired with a 0. A word is passed as the float with the same bits.
constexpr int64_t WordsFor(int64_t n) { return (n + 1) / 2; }
// words [rows, WordsFor(n)]: pairs of horizontal neighbours of x [rows, n].
void PairsInRows(const float* x, int64_t rows, int64_t n, float* words);
// words [WordsFor(rows), n]: pairs of vertical neighbours of x [rows, n]. x_row and words_row are the row strides.
void PairsInColumns(const float* x, int64_t rows, int64_t n, int64_t x_row, float* words, int64_t words_row);

}  // namespace backplane::nn
