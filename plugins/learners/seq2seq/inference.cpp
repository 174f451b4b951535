#include "inference.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "nn/rowwise.hpp"
#include "nn/vectors.hpp"
#include "packed_texts.hpp"

namespace backplane::seq2seq {
namespace {

constexpr float kEpsilon = 1e-5f;  // of layer norms

using Values = std::vector<float>;

}  // namespace

Inference::Inference(const BartConfig& config, const Layout& layout, const float* weights)
    : config_(config), layout_(layout), weights_(weights) {
  words_ = weights_ + layout_.at("model.shared.weight").offset;
  output_.weight.SetTransposed(words_, config_.vocab_size, config_.d_model);
  output_.bias = weights_ + layout_.at("final_logits_bias").offset;
  encoder_ = MakeStack("model.encoder.", config_.encoder_layers, config_.encoder_attention_heads, false);
  decoder_ = MakeStack("model.decoder.", config_.decoder_layers, config_.decoder_attention_heads, true);
}

Inference::Affine Inference::Pack(const std::vector<std::string>& names) const {
  std::vector<std::string> weights, biases;
  for (const std::string& name : names) weights.push_back(name + ".weight"), biases.push_back(name + ".bias");
  const Parameter weight = layout_.Joined(weights);
  Affine affine;
  affine.weight.SetTransposed(weights_ + weight.offset, weight.shape[0], weight.shape[1]);
  affine.bias = weights_ + layout_.Joined(biases).offset;
  return affine;
}

Inference::Norm Inference::NormOf(const std::string& name) const {
  return {weights_ + layout_.at(name + ".weight").offset, weights_ + layout_.at(name + ".bias").offset};
}

Inference::Stack Inference::MakeStack(const std::string& side, int64_t layers, int64_t heads, bool decoder) {
  Stack stack;
  stack.positions = weights_ + layout_.at(side + "embed_positions.weight").offset;
  stack.norm = NormOf(side + "layernorm_embedding");
  stack.heads = heads;
  for (int64_t i = 0; i < layers; ++i) {
    const std::string name = side + "layers." + std::to_string(i) + ".";
    Layer& layer = stack.layers.emplace_back();
    const std::string self = name + "self_attn", cross = name + "encoder_attn";
    layer.self.kvq = Pack({self + ".k_proj", self + ".v_proj", self + ".q_proj"});
    layer.self.out = Pack({self + ".out_proj"});
    layer.self.norm = NormOf(self + "_layer_norm");
    if (decoder) {
      layer.cross.kv = Pack({cross + ".k_proj", cross + ".v_proj"});
      layer.cross.q = Pack({cross + ".q_proj"});
      layer.cross.out = Pack({cross + ".out_proj"});
      layer.cross.norm = NormOf(cross + "_layer_norm");
    }
    layer.fc1 = Pack({name + "fc1"}), layer.fc2 = Pack({name + "fc2"});
    layer.norm = NormOf(name + "final_layer_norm");
  }
  return stack;
}

void Inference::Embed(const Stack& stack, int64_t token, int64_t position, float* out) const {
  NeedToken(config_, token, position);
  const int64_t d = config_.d_model;
  const float* word = words_ + token * d;
  const float* place = stack.positions + (position + kPositionOffset) * d;
  const float scale = config_.scale_embedding ? std::sqrt(static_cast<float>(d)) : 1;
  for (int64_t i = 0; i < d; ++i) out[i] = word[i] * scale + place[i];
  nn::LayerNorm(out, stack.norm.weight, stack.norm.bias, kEpsilon, 1, d, out);
}

void Inference::AddAttention(const Attention& attention, const Values& mixed, int64_t rows, Values* x) const {
  Values out(x->size());
  nn::Multiply(mixed.data(), attention.out.weight, attention.out.bias, rows, out.data());
  nn::Add(out.data(), rows * config_.d_model, x->data());
  nn::LayerNorm(x->data(), attention.norm.weight, attention.norm.bias, kEpsilon, rows, config_.d_model, x->data());
}

void Inference::FeedForward(const Layer& layer, int64_t rows, Values* x) const {
  Values wide(static_cast<size_t>(rows * layer.fc1.weight.n())), out(x->size());
  nn::Multiply(x->data(), layer.fc1.weight, layer.fc1.bias, rows, wide.data());
  nn::GeluInPlace(wide.data(), static_cast<int64_t>(wide.size()));
  nn::Multiply(wide.data(), layer.fc2.weight, layer.fc2.bias, rows, out.data());
  nn::Add(out.data(), rows * config_.d_model, x->data());
  nn::LayerNorm(x->data(), layer.norm.weight, layer.norm.bias, kEpsilon, rows, config_.d_model, x->data());
}

void Inference::AttendToTexts(const Stack& stack, const std::vector<int64_t>& begins, bool causal, const Values& kvq,
                              Values* mixed) const {
  const int64_t d = config_.d_model, width = d / stack.heads;
  const float scale = 1 / std::sqrt(static_cast<float>(width));
  Mixer mixer;
  Values scratch;
  Head head;
  for (size_t text = 0; text + 1 < begins.size(); ++text) {
    const int64_t begin = begins[text], length = begins[text + 1] - begin;
    for (int64_t h = 0; h < stack.heads; ++h) {
      const float* own = kvq.data() + begin * 3 * d + h * width;
      PackHead(own, own + d, 3 * d, length, width, &scratch, &head);
      mixer.Mix(head, own + 2 * d, 3 * d, length, scale, causal, mixed->data() + begin * d + h * width, d);
    }
  }
}

void Inference::AttendToSource(const Source& source, size_t layer, int64_t begin, int64_t end, const Values& q, Mixer* mixer,
                               Values* mixed) const {
  const int64_t d = config_.d_model, heads = decoder_.heads, width = d / heads;
  const float scale = 1 / std::sqrt(static_cast<float>(width));
  for (int64_t h = 0; h < heads; ++h) {
    const int64_t place = begin * d + h * width;
    mixer->Mix(source.heads[layer * static_cast<size_t>(heads) + static_cast<size_t>(h)], q.data() + place, d, end - begin,
               scale, false, mixed->data() + place, d);
  }
}

std::vector<Inference::Source> Inference::Encode(const std::vector<std::span<const int32_t>>& texts) const {
  const int64_t d = config_.d_model;
  std::vector<int64_t> begins = {0};
  for (const auto& text : texts) begins.push_back(begins.back() + static_cast<int64_t>(text.size()));
  const int64_t rows = begins.back();
  const auto size = static_cast<size_t>(rows * d);
  Values x(size), kvq(3 * size), mixed(size);
  for (size_t text = 0; text < texts.size(); ++text) {
    for (size_t i = 0; i < texts[text].size(); ++i)
      Embed(encoder_, texts[text][i], static_cast<int64_t>(i), x.data() + (static_cast<size_t>(begins[text]) + i) * d);
  }
  for (const Layer& layer : encoder_.layers) {
    nn::Multiply(x.data(), layer.self.kvq.weight, layer.self.kvq.bias, rows, kvq.data());
    AttendToTexts(encoder_, begins, false, kvq, &mixed);
    AddAttention(layer.self, mixed, rows, &x);
    FeedForward(layer, rows, &x);
  }
  const int64_t heads = decoder_.heads, width = d / heads;
  std::vector<Source> sources(texts.size());
  for (size_t text = 0; text < texts.size(); ++text) {
    sources[text].length = static_cast<int64_t>(texts[text].size());
    sources[text].heads.resize(decoder_.layers.size() * static_cast<size_t>(heads));
  }
  Values kv(2 * size), scratch;
  for (size_t l = 0; l < decoder_.layers.size(); ++l) {
    const Affine& to_kv = decoder_.layers[l].cross.kv;
    nn::Multiply(x.data(), to_kv.weight, to_kv.bias, rows, kv.data());
    for (size_t text = 0; text < texts.size(); ++text) {
      for (int64_t h = 0; h < heads; ++h) {
        const float* own = kv.data() + begins[text] * 2 * d + h * width;
        PackHead(own, own + d, 2 * d, sources[text].length, width, &scratch,
                 &sources[text].heads[l * static_cast<size_t>(heads) + static_cast<size_t>(h)]);
      }
    }
  }
  return sources;
}

}  // namespace backplane::seq2seq
