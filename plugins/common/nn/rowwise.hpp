// Row-wise operations of a transformer, in float32 with the processor's vector instructions (simd.hpp). A row's result depends
// only on that row.
#pragma once

#include <cstdint>

namespace backplane::nn {

// Replaces each row of values [rows, n] by exp(x) / sum(exp(x)). NaN stays NaN.
void Softmax(int64_t rows, int64_t n, float* values);

// log(sum(exp(values [n]))), summed in float32; overwrites `values`.
double LogSumExp(int64_t n, float* values);

// out = (x - mean(x)) / sqrt(var(x) + epsilon) * weight + bias for each row of x [rows, n] (Ba et al., arXiv 1607.06450), with
// the variance over n. `out` may be x.
void LayerNorm(const float* x, const float* weight, const float* bias, float epsilon, int64_t rows, int64_t n, float* out);

// x / 2 (1 + erf(x / sqrt(2))) (Hendrycks and Gimpel, arXiv 1606.08415), accurate to 2e-7 of x.
void GeluInPlace(float* values, int64_t n);

// Attention of one row to scattered rows, each [heads * width]: scores [heads, length] are the products of `query` with each
// row per head.
void DotRows(const float* query, const float* const* rows, int64_t length, int64_t heads, int64_t width, float* scores);
// out [heads * width]: per head, the sum of the rows weighted by shares [heads, length].
void SumRows(const float* shares, const float* const* rows, int64_t length, int64_t heads, int64_t width, float* out);

}  // namespace backplane::nn
