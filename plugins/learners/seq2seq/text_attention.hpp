// Attention of packed texts, each to itself or to its source, and its gradient: one product per text and head, whose shares the
// backward pass recomputes instead of storing them.
#pragma once

#include <cstdint>
#include <vector>

#include "noise.hpp"

namespace backplane::seq2seq {

struct TextAttention {
  const std::vector<int64_t>&queries,
      &keys;  // starts of the texts' rows (PackedTexts); equal to queries for self-attention
  int64_t heads, width;
  bool causal;  // a row sees those before it and itself
  double dropout;
  Noise::Stream noise;
  Noise::Site site;
};

// Rows of queries, keys and values in the results of products, [heads * width] each, and their strides.
struct AttentionRows {
  float *queries, *keys, *values;
  int64_t queries_stride, keys_stride;  // values: as keys
};

// mixed [rows of queries, heads * width] = softmax(queries keys^T / sqrt(width)) values
void MixTexts(const TextAttention& attention, const AttentionRows& of, float* mixed);
// Writes the gradients of all three, from the derivative at `mixed`.
void MixTextsBackward(const TextAttention& attention, const AttentionRows& of, const float* d_mixed, const AttentionRows& d);

}  // namespace backplane::seq2seq
