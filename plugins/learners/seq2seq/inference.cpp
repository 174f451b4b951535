#include "inference.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "backplane/plugin.hpp"
#include "nn/rowwise.hpp"
#include "nn/vectors.hpp"

namespace backplane::seq2seq {
namespace {

constexpr float kEpsilon = 1e-5f;  // of layer norms

using Values = std::vector<float>;

// Rows [rows, columns] out of rows that are `stride` apart.
void CopyOut(const float* from, int64_t stride, int64_t rows, int64_t columns, float* to) {
  for (int64_t r = 0; r < rows; ++r) std::copy_n(from + r * stride, columns, to + r * columns);
}
void CopyIn(const float* from, int64_t rows, int64_t columns, float* to, int64_t stride) {
  for (int64_t r = 0; r < rows; ++r) std::copy_n(from + r * columns, columns, to + r * stride);
}

// Attention of rows to the keys and values of one head.
struct Mixer {
  Values query, shares, mixed;

  // q and out: [rows] of `width` numbers, `stride` and `out_stride` apart.
  void Mix(const Inference::Source::Head& head, const float* q, int64_t stride, int64_t rows, float scale, float* out,
           int64_t out_stride) {
    const int64_t width = head.values.n(), length = head.keys.n();
    query.resize(static_cast<size_t>(rows * width)), mixed.resize(query.size());
    shares.resize(static_cast<size_t>(rows * length));
    CopyOut(q, stride, rows, width, query.data());
    nn::Scale(scale, rows * width, query.data());
    nn::Multiply(query.data(), head.keys, static_cast<const float*>(nullptr), rows, shares.data());
    nn::Softmax(rows, length, shares.data());
    nn::Multiply(shares.data(), head.values, static_cast<const float*>(nullptr), rows, mixed.data());
    CopyIn(mixed.data(), rows, width, out, out_stride);
  }
};

// Keys and values as they lie in rows `stride` apart.
void PackHead(const float* keys, const float* values, int64_t stride, int64_t length, int64_t width, Values* scratch,
              Inference::Source::Head* head) {
  scratch->resize(static_cast<size_t>(length * width));
  CopyOut(keys, stride, length, width, scratch->data());
  head->keys.SetTransposed(scratch->data(), length, width);
  CopyOut(values, stride, length, width, scratch->data());
  head->values.Set(scratch->data(), length, width);
}

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
  if (token < 0 || token >= config_.vocab_size || position >= config_.max_position_embeddings)
    throw bp::Error(BP_E_INVALID_ARG, "token " + std::to_string(token) + " at position " + std::to_string(position) +
                                          ": the network has " + std::to_string(config_.vocab_size) + " tokens and " +
                                          std::to_string(config_.max_position_embeddings) + " positions");
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

// Each text's tokens to that text's; kvq [tokens, 3 d] as keys, values, queries.
void Inference::AttendToTexts(const std::vector<int64_t>& begins, const Values& kvq, Values* mixed) const {
  const int64_t d = config_.d_model, width = d / encoder_.heads;
  const float scale = 1 / std::sqrt(static_cast<float>(width));
  Mixer mixer;
  Values scratch;
  Source::Head head;
  for (size_t text = 0; text + 1 < begins.size(); ++text) {
    const int64_t begin = begins[text], length = begins[text + 1] - begin;
    for (int64_t h = 0; h < encoder_.heads; ++h) {
      const float* own = kvq.data() + begin * 3 * d + h * width;
      PackHead(own, own + d, 3 * d, length, width, &scratch, &head);
      mixer.Mix(head, own + 2 * d, 3 * d, length, scale, mixed->data() + begin * d + h * width, d);
    }
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
    AttendToTexts(begins, kvq, &mixed);
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

Inference::Decoding::Decoding(const Inference& network, std::vector<Source> encoded, std::vector<int64_t> sources)
    : network_(network), encoded_(std::move(encoded)), source_of_(std::move(sources)), past_(source_of_.size()) {}

void Inference::Decoding::Reorder(const std::vector<int64_t>& from) {
  std::vector<int64_t> sources;
  std::vector<std::vector<int64_t>> past;
  for (const int64_t text : from) {
    sources.push_back(source_of_[static_cast<size_t>(text)]);
    past.push_back(past_[static_cast<size_t>(text)]);
  }
  source_of_ = std::move(sources);
  past_ = std::move(past);
}

float* Inference::Decoding::Next(const std::vector<int64_t>& tokens) {
  const Inference& net = network_;
  const int64_t d = net.config_.d_model, texts = static_cast<int64_t>(tokens.size());
  const size_t size = tokens.size() * static_cast<size_t>(d);
  const size_t at = positions_.size();
  const std::vector<Layer>& layers = net.decoder_.layers;
  Position& here = positions_.emplace_back();
  here.keys.resize(layers.size() * size), here.values.resize(layers.size() * size);
  texts_then_.push_back(texts);
  Values x(size), kvq(3 * size), mixed(size), q(size);
  for (int64_t i = 0; i < texts; ++i) {
    net.Embed(net.decoder_, tokens[static_cast<size_t>(i)], static_cast<int64_t>(at), x.data() + i * d);
    past_[static_cast<size_t>(i)].push_back(i);
  }
  for (size_t l = 0; l < layers.size(); ++l) {
    const Layer& layer = layers[l];
    nn::Multiply(x.data(), layer.self.kvq.weight, layer.self.kvq.bias, texts, kvq.data());
    CopyOut(kvq.data(), 3 * d, texts, d, here.keys.data() + l * size);
    CopyOut(kvq.data() + d, 3 * d, texts, d, here.values.data() + l * size);
    net.AttendToPast(*this, l, kvq, &mixed);
    net.AddAttention(layer.self, mixed, texts, &x);
    nn::Multiply(x.data(), layer.cross.q.weight, layer.cross.q.bias, texts, q.data());
    net.AttendToSources(*this, l, q, &mixed);
    net.AddAttention(layer.cross, mixed, texts, &x);
    net.FeedForward(layer, texts, &x);
  }
  scores_.resize(tokens.size() * static_cast<size_t>(net.config_.vocab_size));
  nn::Multiply(x.data(), net.output_.weight, net.output_.bias, texts, scores_.data());
  return scores_.data();
}

void Inference::AttendToPast(const Decoding& texts, size_t layer, const Values& kvq, Values* mixed) const {
  const int64_t d = config_.d_model, heads = decoder_.heads, width = d / heads;
  const auto length = static_cast<int64_t>(texts.positions_.size());
  const float scale = 1 / std::sqrt(static_cast<float>(width));
  std::vector<const float*> keys(texts.positions_.size()), values(keys.size());
  Values query(static_cast<size_t>(d)), shares(static_cast<size_t>(heads * length));
  for (size_t i = 0; i < texts.past_.size(); ++i) {
    for (size_t t = 0; t < keys.size(); ++t) {
      const int64_t place = (static_cast<int64_t>(layer) * texts.texts_then_[t] + texts.past_[i][t]) * d;
      keys[t] = texts.positions_[t].keys.data() + place;
      values[t] = texts.positions_[t].values.data() + place;
    }
    std::copy_n(kvq.data() + (3 * static_cast<int64_t>(i) + 2) * d, d, query.data());
    nn::Scale(scale, d, query.data());
    nn::DotRows(query.data(), keys.data(), length, heads, width, shares.data());
    nn::Softmax(heads, length, shares.data());
    nn::SumRows(shares.data(), values.data(), length, heads, width, mixed->data() + static_cast<int64_t>(i) * d);
  }
}

void Inference::AttendToSources(const Decoding& texts, size_t layer, const Values& q, Values* mixed) const {
  const int64_t d = config_.d_model, heads = decoder_.heads, width = d / heads;
  const float scale = 1 / std::sqrt(static_cast<float>(width));
  Mixer mixer;
  for (size_t begin = 0; begin < texts.source_of_.size();) {
    size_t end = begin + 1;
    while (end < texts.source_of_.size() && texts.source_of_[end] == texts.source_of_[begin]) ++end;
    const Source& source = texts.encoded_[static_cast<size_t>(texts.source_of_[begin])];
    for (int64_t h = 0; h < heads; ++h) {
      const int64_t place = static_cast<int64_t>(begin) * d + h * width;
      mixer.Mix(source.heads[layer * static_cast<size_t>(heads) + static_cast<size_t>(h)], q.data() + place, d,
                static_cast<int64_t>(end - begin), scale, mixed->data() + place, d);
    }
    begin = end;
  }
}

}  // namespace backplane::seq2seq
