// Attention of rows to keys and values that are packed for our own products, head by head.
#pragma once

#include <cstdint>
#include <vector>

#include "nn/matrix.hpp"

namespace backplane::seq2seq {

// Keys [width, length] and values [length, width] of one head as second factors.
struct Head {
  nn::Packed<float> keys, values;
};

// Rows [rows, columns] out of rows that are `stride` apart, and into such rows.
void CopyOut(const float* from, int64_t stride, int64_t rows, int64_t columns, float* to);
void CopyIn(const float* from, int64_t rows, int64_t columns, float* to, int64_t stride);

// Packs keys and values from rows `stride` apart. `scratch` is only used during the call.
void PackHead(const float* keys, const float* values, int64_t stride, int64_t length, int64_t width,
              std::vector<float>* scratch, Head* head);

// Keeps its buffers from call to call.
class Mixer {
 public:
  // out = softmax(scale q keys) values; q and out: [rows] of the head's width, `stride` and `out_stride` apart. `causal`: row i
  // attends only to the first i + 1 keys.
  void Mix(const Head& head, const float* q, int64_t stride, int64_t rows, float scale, bool causal, float* out,
           int64_t out_stride);

 private:
  std::vector<float> query_, shares_, mixed_;
};

}  // namespace backplane::seq2seq
