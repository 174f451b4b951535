// The BART network in LibTorch (HuggingFace transformers, models/bart/modeling_bart.py): post-norm encoder and decoder with
// learned positions and one embedding shared by both and by the output.
//
// Shapes: B texts of S source and T target tokens, d = d_model, V = vocab_size. Ids are int64.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

#include "layers.hpp"
#include "layout.hpp"
#include "noise.hpp"

namespace backplane::seq2seq {

// Keys, values and queries in one product where they come from the same.
struct Attention {
  Affine kv, q, kvq, out, norm;  // kv and q: of attention to the memory; kvq: of that to itself
};
struct Layer {
  Attention self, cross;  // cross: of decoders
  Affine fc1, fc2, norm;
};
struct Stack {
  at::Tensor positions;
  Affine norm;
  std::vector<Layer> layers;
  int64_t heads;
};
struct Weights {
  Affine output;  // its weight is the embedding of both sides
  Stack encoder, decoder;
};
// `find` gives the tensors of a parameter.
Weights BindWeights(const BartConfig& config, const Layout& layout, const std::function<Weight(const Parameter&)>& find);

// How a pass is run. Not for a pass without gradient: recompute.
struct Pass {
  Noise noise = {};        // dropout; by default none
  bool recompute = false;  // gradient checkpointing: layers keep their inputs alone and are run again backwards
  std::vector<at::Tensor>* trace = nullptr;  // gets what each layer puts out, after the embedding; for tests
};

// What a text's positions [0, length) are: [B, 1, 1, S] with 0 there and the least float elsewhere; undefined if all are full.
at::Tensor PaddingMask(const at::Tensor& lengths, int64_t width);

// [B, S] -> [B, S, d]
at::Tensor Encode(const BartConfig& config, const Weights& weights, const at::Tensor& ids, const at::Tensor& mask,
                  const Pass& pass);
// ids [B, T], memory [B, S, d] -> [B, T, d]
at::Tensor Decode(const BartConfig& config, const Weights& weights, const at::Tensor& ids, const at::Tensor& memory,
                  const at::Tensor& mask, const Pass& pass);
// [n, d] -> [n, V]
at::Tensor Logits(const Weights& weights, const at::Tensor& hidden);

// Keys and values of a decoder's layers: of the memory, and of the tokens so far.
struct Cache {
  struct Entry {
    at::Tensor key, value;  // [N, heads, S or length, d / heads]
  };
  std::vector<Entry> cross, self;
  int64_t length = 0;  // tokens in `self`
};
// memory [N, S, d]; room for `capacity` tokens. In float32, as all of generation.
Cache MakeCache(const BartConfig& config, const Weights& weights, const at::Tensor& memory, int64_t capacity);
// The next token of each text, ids [N] -> [N, d]; the cache grows by one.
at::Tensor DecodeNext(const BartConfig& config, const Weights& weights, const at::Tensor& ids, const at::Tensor& mask,
                      Cache* cache);

}  // namespace backplane::seq2seq
