#include "heads.hpp"

#include <algorithm>

#include "nn/rowwise.hpp"
#include "nn/vectors.hpp"

namespace backplane::seq2seq {

void CopyIn(const float* from, int64_t rows, int64_t columns, float* to, int64_t stride) {
  for (int64_t r = 0; r < rows; ++r) std::copy_n(from + r * columns, columns, to + r * stride);
}

void CopyOut(const float* from, int64_t stride, int64_t rows, int64_t columns, float* to) {
  for (int64_t r = 0; r < rows; ++r) std::copy_n(from + r * stride, columns, to + r * columns);
}

void PackHead(const float* keys, const float* values, int64_t stride, int64_t length, int64_t width,
              std::vector<float>* scratch, Head* head) {
  scratch->resize(static_cast<size_t>(length * width));
  CopyOut(keys, stride, length, width, scratch->data());
  head->keys.SetTransposed(scratch->data(), length, width);
  CopyOut(values, stride, length, width, scratch->data());
  head->values.Set(scratch->data(), length, width);
}

void Mixer::Mix(const Head& head, const float* q, int64_t stride, int64_t rows, float scale, bool causal, float* out,
                int64_t out_stride) {
  const int64_t width = head.values.n(), length = head.keys.n();
  query_.resize(static_cast<size_t>(rows * width)), mixed_.resize(query_.size());
  shares_.resize(static_cast<size_t>(rows * length));
  CopyOut(q, stride, rows, width, query_.data());
  nn::Scale(scale, rows * width, query_.data());
  nn::Multiply(query_.data(), head.keys, static_cast<const float*>(nullptr), rows, shares_.data());
  if (causal) {
    for (int64_t i = 0; i < rows; ++i) {
      float* row = shares_.data() + i * length;
      nn::Softmax(1, i + 1, row);
      std::fill(row + i + 1, row + length, 0.0f);
    }
  } else {
    nn::Softmax(rows, length, shares_.data());
  }
  nn::Multiply(shares_.data(), head.values, static_cast<const float*>(nullptr), rows, mixed_.data());
  CopyIn(mixed_.data(), rows, width, out, out_stride);
}

}  // namespace backplane::seq2seq
