#include "bart.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <limits>

#include "recompute.hpp"
#include "torch/autocast.hpp"

namespace backplane::seq2seq {
namespace {

using torch_common::Autocast;

constexpr int64_t kPositionOffset = 2;
constexpr double kLayerNormEpsilon = 1e-5;
constexpr float kHidden = std::numeric_limits<float>::lowest();  // as in transformers; -inf would make a row of NaN

at::Tensor Linear(const Affine& w, const at::Tensor& x) { return at::linear(x, w.weight, w.bias); }
at::Tensor Norm(const Affine& w, const at::Tensor& x) {
  return at::layer_norm(x, {x.size(-1)}, w.weight, w.bias, kLayerNormEpsilon);
}

// [B, T, d] -> [B, heads, T, d / heads]
at::Tensor Split(const at::Tensor& x, int64_t heads) {
  return x.view({x.size(0), x.size(1), heads, x.size(2) / heads}).transpose(1, 2);
}

// softmax(q k^T / sqrt(d / heads) + mask) v
at::Tensor Mix(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& mask, double p,
               Noise::Stream* noise) {
  const double scale = 1 / std::sqrt(static_cast<double>(q.size(-1)));
  // Keeps no shares for the backward pass. Its own dropout would draw from the process's generator, and in bfloat16 it was the
  // slower one: 1.49 against 1.18 s of CPU time for an update.
  if (p == 0 && q.scalar_type() == at::kFloat) {
    const auto bias = mask.defined() ? std::optional(mask) : std::nullopt;
    return at::scaled_dot_product_attention(q, k, v, bias, 0, /*is_causal=*/false, scale);
  }
  at::Tensor scores = at::matmul(q * scale, k.transpose(-2, -1));
  if (mask.defined()) scores.add_(mask);
  return at::matmul(noise->Drop(scores.softmax(-1), p), v);
}

at::Tensor Attend(const Attention& w, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& mask,
                  double p, Noise::Stream* noise) {
  const at::Tensor heads = Mix(q, k, v, mask, p, noise).transpose(1, 2);
  return Linear(w.out, heads.reshape({heads.size(0), heads.size(1), -1}));
}

// x: where queries come from; from: keys and values.
at::Tensor Attend(const BartConfig& c, const Attention& w, int64_t heads, const at::Tensor& x, const at::Tensor& from,
                  const at::Tensor& mask, Noise::Stream* noise) {
  return Attend(w, Split(Linear(w.q, x), heads), Split(Linear(w.k, from), heads), Split(Linear(w.v, from), heads), mask,
                c.attention_dropout, noise);
}

at::Tensor FeedForward(const BartConfig& c, const Layer& w, const at::Tensor& x, Noise::Stream* noise) {
  const at::Tensor wide = noise->Drop(at::gelu(Linear(w.fc1, x)), c.activation_dropout);
  return Norm(w.norm, x + noise->Drop(Linear(w.fc2, wide), c.dropout));
}

at::Tensor Embed(const BartConfig& c, const Weights& w, const Stack& stack, const at::Tensor& ids, int64_t first,
                 Noise::Stream* noise) {
  at::Tensor x = at::embedding(w.shared, ids, c.pad_token_id);
  if (c.scale_embedding) x = x * std::sqrt(static_cast<double>(c.d_model));
  x = x + stack.positions.narrow(0, first + kPositionOffset, ids.size(-1));
  return noise->Drop(Norm(stack.norm, x), c.dropout);
}

// [1, 1, T, T]: a token sees those before it and itself.
at::Tensor CausalMask(int64_t width, const at::Tensor& like) {
  return at::full({1, 1, width, width}, kHidden, like.options().requires_grad(false)).triu_(1);
}

Affine BindAffine(const Layout& layout, const std::string& name, const std::function<at::Tensor(const Parameter&)>& find) {
  return {find(layout.at(name + ".weight")), find(layout.at(name + ".bias"))};
}

}  // namespace

Weights BindWeights(const BartConfig& config, const Layout& layout, const std::function<at::Tensor(const Parameter&)>& find) {
  const auto affine = [&](const std::string& name) { return BindAffine(layout, name, find); };
  const auto attention = [&](const std::string& name) {
    return Attention{affine(name + ".q_proj"), affine(name + ".k_proj"), affine(name + ".v_proj"), affine(name + ".out_proj"),
                     affine(name + "_layer_norm")};
  };
  const auto stack = [&](const std::string& side, int64_t layers, int64_t heads, bool decoder) {
    Stack s{find(layout.at(side + "embed_positions.weight")), affine(side + "layernorm_embedding"), {}, heads};
    for (int64_t i = 0; i < layers; ++i) {
      const std::string name = side + "layers." + std::to_string(i) + ".";
      s.layers.push_back({attention(name + "self_attn"), decoder ? attention(name + "encoder_attn") : Attention{},
                          affine(name + "fc1"), affine(name + "fc2"), affine(name + "final_layer_norm")});
    }
    return s;
  };
  return {find(layout.at("model.shared.weight")), find(layout.at("final_logits_bias")),
          stack("model.encoder.", config.encoder_layers, config.encoder_attention_heads, false),
          stack("model.decoder.", config.decoder_layers, config.decoder_attention_heads, true)};
}

at::Tensor PaddingMask(const at::Tensor& lengths, int64_t width) {
  if (lengths.ge(width).all().item<bool>()) return {};
  const at::Tensor padding = at::arange(width, lengths.options()).unsqueeze(0).ge(lengths.unsqueeze(1));
  return at::zeros({lengths.size(0), 1, 1, width}, lengths.options().dtype(at::kFloat))
      .masked_fill_(padding.unsqueeze(1).unsqueeze(1), kHidden);
}

at::Tensor Encode(const BartConfig& c, const Weights& w, const at::Tensor& ids, const at::Tensor& mask, const Pass& pass) {
  const Autocast autocast(ids.device().type(), pass.bf16);
  Noise::Stream noise = pass.noise.Of(0);
  at::Tensor x = Embed(c, w, w.encoder, ids, 0, &noise);
  if (pass.trace) pass.trace->push_back(x);
  for (size_t i = 0; i < w.encoder.layers.size(); ++i) {
    const Layer& layer = w.encoder.layers[i];
    const auto run = [&c, &layer, mask, pass, i, heads = w.encoder.heads](const at::Tensor& in, const at::Tensor&) {
      const Autocast again(in.device().type(), pass.bf16);
      Noise::Stream drop = pass.noise.Of(1 + i);
      const at::Tensor y = drop.Drop(Attend(c, layer.self, heads, in, in, mask, &drop), c.dropout);
      return FeedForward(c, layer, Norm(layer.self.norm, in + y), &drop);
    };
    x = pass.recompute ? Recompute(run, x, {}) : run(x, {});
    if (pass.trace) pass.trace->push_back(x);
  }
  return x;
}

at::Tensor Decode(const BartConfig& c, const Weights& w, const at::Tensor& ids, const at::Tensor& memory,
                  const at::Tensor& mask, const Pass& pass) {
  const Autocast autocast(ids.device().type(), pass.bf16);
  const size_t first = 1 + w.encoder.layers.size();
  Noise::Stream noise = pass.noise.Of(first);
  at::Tensor x = Embed(c, w, w.decoder, ids, 0, &noise);
  const at::Tensor causal = CausalMask(ids.size(1), w.shared);
  if (pass.trace) pass.trace->push_back(x);
  for (size_t i = 0; i < w.decoder.layers.size(); ++i) {
    const Layer& layer = w.decoder.layers[i];
    const auto run = [&c, &layer, mask, causal, pass, i, first, heads = w.decoder.heads](const at::Tensor& in,
                                                                                         const at::Tensor& from) {
      const Autocast again(in.device().type(), pass.bf16);
      Noise::Stream drop = pass.noise.Of(first + 1 + i);
      at::Tensor y = drop.Drop(Attend(c, layer.self, heads, in, in, causal, &drop), c.dropout);
      const at::Tensor mid = Norm(layer.self.norm, in + y);
      y = drop.Drop(Attend(c, layer.cross, heads, mid, from, mask, &drop), c.dropout);
      return FeedForward(c, layer, Norm(layer.cross.norm, mid + y), &drop);
    };
    x = pass.recompute ? Recompute(run, x, memory) : run(x, memory);
    if (pass.trace) pass.trace->push_back(x);
  }
  return x;
}

at::Tensor Logits(const Weights& w, const at::Tensor& hidden, bool bf16) {
  const Autocast autocast(hidden.device().type(), bf16);
  return at::linear(hidden, w.shared, w.logits_bias.view({-1})).to(at::kFloat);
}

Cache MakeCache(const BartConfig& c, const Weights& w, const at::Tensor& memory, int64_t capacity) {
  Cache cache;
  const int64_t heads = w.decoder.heads;
  for (const Layer& layer : w.decoder.layers) {
    cache.cross.push_back(
        {Split(Linear(layer.cross.k, memory), heads).contiguous(), Split(Linear(layer.cross.v, memory), heads).contiguous()});
    const auto room = [&] {
      return at::empty({memory.size(0), heads, capacity, c.d_model / heads}, cache.cross.back().key.options());
    };
    cache.self.push_back({room(), room()});
  }
  return cache;
}

at::Tensor DecodeNext(const BartConfig& c, const Weights& w, const at::Tensor& ids, const at::Tensor& mask, Cache* cache) {
  Noise::Stream none;
  const int64_t heads = w.decoder.heads, at = cache->length++;
  at::Tensor x = Embed(c, w, w.decoder, ids.unsqueeze(1), at, &none);
  for (size_t i = 0; i < w.decoder.layers.size(); ++i) {
    const Layer& layer = w.decoder.layers[i];
    Cache::Entry& seen = cache->self[i];
    seen.key.narrow(2, at, 1).copy_(Split(Linear(layer.self.k, x), heads));
    seen.value.narrow(2, at, 1).copy_(Split(Linear(layer.self.v, x), heads));
    const at::Tensor self = Attend(layer.self, Split(Linear(layer.self.q, x), heads), seen.key.narrow(2, 0, at + 1),
                                   seen.value.narrow(2, 0, at + 1), {}, 0, &none);
    x = Norm(layer.self.norm, x + self);
    const Cache::Entry& from = cache->cross[i];
    x = Norm(layer.cross.norm,
             x + Attend(layer.cross, Split(Linear(layer.cross.q, x), heads), from.key, from.value, mask, 0, &none));
    x = FeedForward(c, layer, x, &none);
  }
  return x.squeeze(1);
}

}  // namespace backplane::seq2seq
