// A weight's products in training with the kernels in nn/: packed once per update; a BLAS would pack once per micro-batch.
#pragma once

#include <cstdint>

#include "nn/matrix.hpp"

namespace backplane::seq2seq {

class PackedWeight {
 public:
  void Set(const float* weight, int64_t out, int64_t in);  // weight [out, in]
  // y [rows, out] = x W^T + bias, with x [rows, in]
  void Forward(const float* x, const float* bias, int64_t rows, float* y) const;
  // dx [rows, in] = g W, with g [rows, out]
  void Backward(const float* g, int64_t rows, float* dx) const;
  void BackwardAdd(const float* g, int64_t rows, float* dx) const;  // dx += g W

 private:
  nn::Packed<float> transposed_, plain_;
};

// grad [out, in] += transposed(g) x, with g [rows, out] and x [rows, in].
void AddWeightGradient(const float* g, int64_t out, const float* x, int64_t in, int64_t rows, float* grad);

}  // namespace backplane::seq2seq
