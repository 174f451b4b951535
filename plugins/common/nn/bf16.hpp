// Numbers rounded to bfloat16 (to nearest, ties to even) in words of two, as one instruction multiplies them: vdpbf16ps, of
// processors with avx512_bf16. Its products are exact, and added in float32. Denormal numbers count as 0.
#pragma once

#include <cstdint>

namespace backplane::nn {

// Whether the processor has it: only then what follows may be called, and products take Precision::kBf16.
bool HasBf16();

// An odd last number stands beside a 0. A word is handed around as the float of the same bits.
constexpr int64_t WordsFor(int64_t n) { return (n + 1) / 2; }
// words [rows, WordsFor(n)]: pairs of neighbours in a row of x [rows, n].
void PairsInRows(const float* x, int64_t rows, int64_t n, float* words);
// words [WordsFor(rows), n]: pairs of neighbours in a column of x [rows, n]. A row of x begins x_row numbers behind the one
// before, a row of words words_row behind.
void PairsInColumns(const float* x, int64_t rows, int64_t n, int64_t x_row, float* words, int64_t words_row);

}  // namespace backplane::nn
