// The BART network in LibTorch (HuggingFace transformers, models/bart/modeling_bart.py): post-norm encoder and decoder with
// learned positions and one embedding shared by both and by the output. mBART (models/mbart/modeling_mbart.py) is pre-norm.
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

// Keys, values and queries in one product if they have the same input.
struct Attention {
  Affine kv, q, kvq, out, norm;  // kv and q: cross-attention; kvq: self-attention
};
struct Layer {
  Attention self, cross;  // cross: decoders only
  Affine fc1, fc2, norm;
};
struct Stack {
  at::Tensor positions;
  Affine norm;
  std::vector<Layer> layers;
  int64_t heads;
  Affine last_norm = {};  // mBART only
};
struct Weights {
  Affine output;  // its weight is the embedding of both sides
  Stack encoder, decoder;
};
// `find` returns the tensors of a parameter.
Weights BindWeights(const BartConfig& config, const Layout& layout, const std::function<Weight(const Parameter&)>& find);

// Options of a pass. recompute is invalid for passes without gradient.
struct Pass {
  Noise noise = {};        // dropout; by default none
  bool recompute = false;  // gradient checkpointing: layers keep only their inputs and are recomputed in the backward pass
  std::vector<at::Tensor>* trace = nullptr;  // receives each layer's output after the embedding; for tests
};

// Masks positions outside [0, length): [B, 1, 1, S] with 0 inside and the lowest float outside; undefined if all are full.
at::Tensor PaddingMask(const at::Tensor& lengths, int64_t width);

// [B, S] -> [B, S, d]
at::Tensor Encode(const BartConfig& config, const Weights& weights, const at::Tensor& ids, const at::Tensor& mask,
                  const Pass& pass);
// ids [B, T], memory [B, S, d] -> [B, T, d]
at::Tensor Decode(const BartConfig& config, const Weights& weights, const at::Tensor& ids, const at::Tensor& memory,
                  const at::Tensor& mask, const Pass& pass);
// [n, d] -> [n, V]
at::Tensor Logits(const Weights& weights, const at::Tensor& hidden);

// Keys and values of a decoder's layers: for the memory, and for the tokens so far.
struct Cache {
  struct Entry {
    at::Tensor key, value;  // [N, heads, S or length, d / heads]
  };
  std::vector<Entry> cross, self;
  int64_t length = 0;  // tokens in `self`
};
// memory [N, S, d]; room for `capacity` tokens. Float32, like all of generation.
Cache MakeCache(const BartConfig& config, const Weights& weights, const at::Tensor& memory, int64_t capacity);
// Decodes the next token of each text, ids [N] -> [N, d]; extends the cache by one.
at::Tensor DecodeNext(const BartConfig& config, const Weights& weights, const at::Tensor& ids, const at::Tensor& mask,
                      Cache* cache);

}  // namespace backplane::seq2seq
