#include "bart.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <limits>

#include "recompute.hpp"

namespace backplane::seq2seq {
namespace {

constexpr double kLayerNormEpsilon = 1e-5;
constexpr float kHidden = std::numeric_limits<float>::lowest();  // as in transformers; -inf would make a row of NaN

at::Tensor Norm(const Affine& w, const at::Tensor& x) {
  return at::layer_norm(x, {x.size(-1)}, w.weight.value, w.bias.value, kLayerNormEpsilon);
}

// [B, T, d] -> [B, heads, T, d / heads]
at::Tensor Split(const at::Tensor& x, int64_t heads) {
  return x.view({x.size(0), x.size(1), heads, x.size(2) / heads}).transpose(1, 2);
}

// softmax(q k^T / sqrt(d / heads) + mask) v
at::Tensor Mix(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& mask, double p,
               const Noise::Stream& noise, Noise::Site site) {
  const double scale = 1 / std::sqrt(static_cast<double>(q.size(-1)));
  // LibTorch's attention stores no shares for the backward pass. But its dropout draws from the process's generator, and in
  // bfloat16 it was slower: 1.49 against 1.18 s of CPU time per update. On a GPU its backward pass adds in no fixed order.
  const bool in_order = q.is_cpu() || !c10::GradMode::is_enabled();
  if (p == 0 && q.scalar_type() == at::kFloat && in_order) {
    const auto bias = mask.defined() ? std::optional(mask) : std::nullopt;
    return at::scaled_dot_product_attention(q, k, v, bias, 0, /*is_causal=*/false, scale);
  }
  at::Tensor scores = at::matmul(q * scale, k.transpose(-2, -1));
  if (mask.defined()) scores.add_(mask);
  return at::matmul(noise.Drop(scores.softmax(-1), p, site), v);
}

at::Tensor Attend(const Attention& w, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& mask,
                  double p, const Noise::Stream& noise, Noise::Site site) {
  const at::Tensor heads = Mix(q, k, v, mask, p, noise, site).transpose(1, 2);
  return Linear(w.out, heads.reshape({heads.size(0), heads.size(1), -1}));
}

// Keys, values and queries of x itself.
at::Tensor AttendToItself(const BartConfig& c, const Attention& w, int64_t heads, const at::Tensor& x, const at::Tensor& mask,
                          const Noise::Stream& noise) {
  const auto kvq = Linear(w.kvq, x).split(c.d_model, -1);
  return Attend(w, Split(kvq[2], heads), Split(kvq[0], heads), Split(kvq[1], heads), mask, c.attention_dropout, noise,
                Noise::Site::kSelfShares);
}

// Queries of x, keys and values of the memory.
at::Tensor AttendToMemory(const BartConfig& c, const Attention& w, int64_t heads, const at::Tensor& x, const at::Tensor& memory,
                          const at::Tensor& mask, const Noise::Stream& noise) {
  const auto kv = Linear(w.kv, memory).split(c.d_model, -1);
  return Attend(w, Split(Linear(w.q, x), heads), Split(kv[0], heads), Split(kv[1], heads), mask, c.attention_dropout, noise,
                Noise::Site::kCrossShares);
}

// The residual around a part: norm(x + part(x)), or x + part(norm(x)) in mBART.
template <class Part>
at::Tensor Residual(const BartConfig& c, const Affine& norm, const at::Tensor& x, Part&& part) {
  return c.is_mbart ? x + part(Norm(norm, x)) : Norm(norm, x + part(x));
}

at::Tensor FeedForward(const BartConfig& c, const Layer& w, const at::Tensor& x, const Noise::Stream& noise) {
  return Residual(c, w.norm, x, [&](const at::Tensor& in) {
    const at::Tensor wide = noise.Drop(at::gelu(Linear(w.fc1, in)), c.activation_dropout, Noise::Site::kWide);
    return noise.Drop(Linear(w.fc2, wide), c.dropout, Noise::Site::kOut);
  });
}

at::Tensor LastNorm(const BartConfig& c, const Stack& stack, const at::Tensor& x) {
  return c.is_mbart ? Norm(stack.last_norm, x) : x;
}

at::Tensor Embed(const BartConfig& c, const Weights& w, const Stack& stack, const at::Tensor& ids, int64_t first,
                 const Noise::Stream& noise) {
  at::Tensor x = Lookup(w.output.weight.value, ids, c.pad_token_id);
  if (c.scale_embedding) x = x * std::sqrt(static_cast<double>(c.d_model));
  x = x + stack.positions.narrow(0, first + kPositionOffset, ids.size(-1));
  return noise.Drop(Norm(stack.norm, x), c.dropout, Noise::Site::kOut);
}

// [1, 1, T, T]: a token sees those before it and itself.
at::Tensor CausalMask(int64_t width, const at::Tensor& like) {
  return at::full({1, 1, width, width}, kHidden, like.options().requires_grad(false)).triu_(1);
}

}  // namespace

Weights BindWeights(const BartConfig& config, const Layout& layout, const std::function<Weight(const Parameter&)>& find) {
  const auto joined = [&](const std::string& name, std::initializer_list<const char*> parts) {
    std::vector<std::string> weights, biases;
    for (const char* part : parts) weights.push_back(name + part + ".weight"), biases.push_back(name + part + ".bias");
    return Affine{find(layout.Joined(weights)), find(layout.Joined(biases))};
  };
  const auto affine = [&](const std::string& name) { return joined(name, {""}); };
  const auto attention = [&](const std::string& name, bool to_memory) {
    Attention a{.out = affine(name + ".out_proj"), .norm = affine(name + "_layer_norm")};
    if (to_memory) {
      a.kv = joined(name, {".k_proj", ".v_proj"}), a.q = affine(name + ".q_proj");
    } else {
      a.kvq = joined(name, {".k_proj", ".v_proj", ".q_proj"});
    }
    return a;
  };
  const auto stack = [&](const std::string& side, int64_t layers, int64_t heads, bool decoder) {
    Stack s{find(layout.at(side + "embed_positions.weight")).value, affine(side + "layernorm_embedding"), {}, heads};
    if (config.is_mbart) s.last_norm = affine(side + "layer_norm");
    for (int64_t i = 0; i < layers; ++i) {
      const std::string name = side + "layers." + std::to_string(i) + ".";
      s.layers.push_back({attention(name + "self_attn", false), decoder ? attention(name + "encoder_attn", true) : Attention{},
                          affine(name + "fc1"), affine(name + "fc2"), affine(name + "final_layer_norm")});
    }
    return s;
  };
  return {{find(layout.at("model.shared.weight")), find(layout.at("final_logits_bias"))},
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
  at::Tensor x = Embed(c, w, w.encoder, ids, 0, pass.noise.Of(0));
  if (pass.trace) pass.trace->push_back(x);
  for (size_t i = 0; i < w.encoder.layers.size(); ++i) {
    const Layer& layer = w.encoder.layers[i];
    const auto run = [&c, &layer, mask, pass, i, heads = w.encoder.heads](const at::Tensor& in, const at::Tensor&) {
      const Noise::Stream drop = pass.noise.Of(1 + i);
      const at::Tensor y = Residual(c, layer.self.norm, in, [&](const at::Tensor& from) {
        return drop.Drop(AttendToItself(c, layer.self, heads, from, mask, drop), c.dropout, Noise::Site::kSelf);
      });
      return FeedForward(c, layer, y, drop);
    };
    x = pass.recompute ? Recompute(run, x, {}) : run(x, {});
    if (pass.trace) pass.trace->push_back(x);
  }
  return LastNorm(c, w.encoder, x);
}

at::Tensor Decode(const BartConfig& c, const Weights& w, const at::Tensor& ids, const at::Tensor& memory,
                  const at::Tensor& mask, const Pass& pass) {
  const size_t first = 1 + w.encoder.layers.size();
  at::Tensor x = Embed(c, w, w.decoder, ids, 0, pass.noise.Of(first));
  const at::Tensor causal = CausalMask(ids.size(1), x);
  if (pass.trace) pass.trace->push_back(x);
  for (size_t i = 0; i < w.decoder.layers.size(); ++i) {
    const Layer& layer = w.decoder.layers[i];
    const auto run = [&c, &layer, mask, causal, pass, i, first, heads = w.decoder.heads](const at::Tensor& in,
                                                                                         const at::Tensor& from) {
      const Noise::Stream drop = pass.noise.Of(first + 1 + i);
      const at::Tensor self = Residual(c, layer.self.norm, in, [&](const at::Tensor& y) {
        return drop.Drop(AttendToItself(c, layer.self, heads, y, causal, drop), c.dropout, Noise::Site::kSelf);
      });
      const at::Tensor cross = Residual(c, layer.cross.norm, self, [&](const at::Tensor& y) {
        return drop.Drop(AttendToMemory(c, layer.cross, heads, y, from, mask, drop), c.dropout, Noise::Site::kCross);
      });
      return FeedForward(c, layer, cross, drop);
    };
    x = pass.recompute ? Recompute(run, x, memory) : run(x, memory);
    if (pass.trace) pass.trace->push_back(x);
  }
  return LastNorm(c, w.decoder, x);
}

at::Tensor Logits(const Weights& w, const at::Tensor& hidden) { return Linear(w.output, hidden); }

Cache MakeCache(const BartConfig& c, const Weights& w, const at::Tensor& memory, int64_t capacity) {
  Cache cache;
  const int64_t heads = w.decoder.heads;
  for (const Layer& layer : w.decoder.layers) {
    const auto kv = Linear(layer.cross.kv, memory).split(c.d_model, -1);
    cache.cross.push_back({Split(kv[0], heads).contiguous(), Split(kv[1], heads).contiguous()});
    const auto room = [&] {
      return at::empty({memory.size(0), heads, capacity, c.d_model / heads}, cache.cross.back().key.options());
    };
    cache.self.push_back({room(), room()});
  }
  return cache;
}

at::Tensor DecodeNext(const BartConfig& c, const Weights& w, const at::Tensor& ids, const at::Tensor& mask, Cache* cache) {
  const Noise::Stream none;
  const int64_t heads = w.decoder.heads, at = cache->length++;
  at::Tensor x = Embed(c, w, w.decoder, ids.unsqueeze(1), at, none);
  for (size_t i = 0; i < w.decoder.layers.size(); ++i) {
    const Layer& layer = w.decoder.layers[i];
    Cache::Entry& seen = cache->self[i];
    x = Residual(c, layer.self.norm, x, [&](const at::Tensor& y) {
      const auto kvq = Linear(layer.self.kvq, y).split(c.d_model, -1);
      seen.key.narrow(2, at, 1).copy_(Split(kvq[0], heads));
      seen.value.narrow(2, at, 1).copy_(Split(kvq[1], heads));
      return Attend(layer.self, Split(kvq[2], heads), seen.key.narrow(2, 0, at + 1), seen.value.narrow(2, 0, at + 1), {}, 0,
                    none, Noise::Site::kSelfShares);
    });
    x = Residual(c, layer.cross.norm, x, [&](const at::Tensor& y) {
      const Cache::Entry& from = cache->cross[i];
      return Attend(layer.cross, Split(Linear(layer.cross.q, y), heads), from.key, from.value, mask, 0, none,
                    Noise::Site::kCrossShares);
    });
    x = FeedForward(c, layer, x, none);
  }
  return LastNorm(c, w.decoder, x).squeeze(1);
}

}  // namespace backplane::seq2seq
