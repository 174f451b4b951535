// The BART network in LibTorch (HuggingFace transformers, models/bart/modeling_bart.py): post-norm encoder and decoder with
// learned positions and one embedding shared by both and by the output.
//
// Shapes: B texts of S source and T target tokens, d = d_model, V = vocab_size. Ids are int64.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

#include "layout.hpp"
#include "noise.hpp"

namespace backplane::seq2seq {

struct Affine {
  at::Tensor weight, bias;
};
struct Attention {
  Affine q, k, v, out, norm;
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
  at::Tensor shared, logits_bias;
  Stack encoder, decoder;
};
// `find` gives the tensor of a parameter.
Weights BindWeights(const BartConfig& config, const Layout& layout, const std::function<at::Tensor(const Parameter&)>& find);

// How a pass is run. Not for a pass without gradient: recompute.
struct Pass {
  Noise noise = {};        // dropout; by default none
  bool recompute = false;  // gradient checkpointing: layers keep their inputs alone and are run again backwards
  bool bf16 = false;       // layers in bfloat16, by autocast
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
// [n, d] -> [n, V], float32
at::Tensor Logits(const Weights& weights, const at::Tensor& hidden, bool bf16);

// Keys and values of a decoder's layers: of the memory, and of the tokens so far.
struct Cache {
  struct Entry {
    at::Tensor key, value;  // [N, heads, S or length, d / heads]
  };
  std::vector<Entry> cross, self;
  int64_t length = 0;  // tokens in `self`
};
// memory [N, S, d]; room for `capacity` tokens. In float32, as all of generation: casting the weights for each token would cost
// more than it gains.
Cache MakeCache(const BartConfig& config, const Weights& weights, const at::Tensor& memory, int64_t capacity);
// The next token of each text, ids [N] -> [N, d]; the cache grows by one.
at::Tensor DecodeNext(const BartConfig& config, const Weights& weights, const at::Tensor& ids, const at::Tensor& mask,
                      Cache* cache);

}  // namespace backplane::seq2seq
