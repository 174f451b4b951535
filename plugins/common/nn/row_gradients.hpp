// What the training of a transformer does with single rows, in float32 and for the processor's vector instructions (simd.hpp):
// forward passes that leave what their gradients need, and these gradients.
#pragma once

#include <cstdint>

namespace backplane::nn {

// `shares` [rows, n] are softmaxes, and d [rows, n] is the derivative at them; it becomes that at what they were taken of.
void SoftmaxBackward(const float* shares, int64_t rows, int64_t n, float* d);

// values [n] become scale * exp(x) / sum(exp(x)); returns log(sum(exp(x))).
double ScaledSoftmax(int64_t n, float scale, float* values);

// For each row of y [rows, n] + x (NULL: 0) the norm `hat` = (sum - mean) / sqrt(var + epsilon), which y becomes, and
// out = hat * weight + bias. scales [rows]: by how much hat was stretched.
void AddLayerNorm(const float* x, const float* weight, const float* bias, float epsilon, int64_t rows, int64_t n, float* y,
                  float* scales, float* out);
// d [rows, n] at `out` becomes that at the sum; d_weight and d_bias [n] grow by theirs.
void LayerNormBackward(const float* hat, const float* scales, const float* weight, int64_t rows, int64_t n, float* d,
                       float* d_weight, float* d_bias);

// out = x / 2 (1 + erf(x / sqrt(2))), and x becomes the derivative there.
void GeluAndSlope(float* x, int64_t n, float* out);

// values *= factors
void MultiplyBy(const float* factors, int64_t n, float* values);

// Dropout: a number becomes 0 with probability p, and is divided by 1 - p otherwise. Which ones is a function of `key` and of
// their places alone, so a gradient finds them again.
void DropFrom(uint64_t key, double p, int64_t n, float* values);

}  // namespace backplane::nn
