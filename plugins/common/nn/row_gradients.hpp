// Row-wise operations for training a transformer, in float32 with the processor's vector instructions (simd.hpp): forward
// passes that keep the inputs of their gradients, and the gradients.
#pragma once

#include <cstdint>

namespace backplane::nn {

// `shares` [rows, n] are softmaxes; converts the derivative d [rows, n] at them to the derivative at their inputs.
void SoftmaxBackward(const float* shares, int64_t rows, int64_t n, float* d);

// values [n] become scale * exp(x) / sum(exp(x)); returns log(sum(exp(x))).
double ScaledSoftmax(int64_t n, float scale, float* values);

// For each row of y [rows, n] + x (NULL: 0) computes `hat` = (sum - mean) / sqrt(var + epsilon), stored in y, and out = hat *
// weight + bias. scales [rows] are the factors 1 / sqrt(var + epsilon).
void AddLayerNorm(const float* x, const float* weight, const float* bias, float epsilon, int64_t rows, int64_t n, float* y,
                  float* scales, float* out);
// Converts the derivative d [rows, n] at `out` to the derivative at the sum; adds to d_weight and d_bias [n].
void LayerNormBackward(const float* hat, const float* scales, const float* weight, int64_t rows, int64_t n, float* d,
                       float* d_weight, float* d_bias);

// out = x / 2 (1 + erf(x / sqrt(2))); x becomes the derivative.
void GeluAndSlope(float* x, int64_t n, float* out);

// values *= factors
void MultiplyBy(const float* factors, int64_t n, float* values);

// Dropout: zeroes a number with probability p and divides it by 1 - p otherwise. The choice depends only on `key` and the
// index, so the gradient can repeat it.
void DropFrom(uint64_t key, double p, int64_t n, float* values);

}  // namespace backplane::nn
