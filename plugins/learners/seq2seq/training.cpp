#include "training.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <utility>

#include "backplane/plugin.hpp"
#include "nn/row_gradients.hpp"
#include "nn/vectors.hpp"

namespace backplane::seq2seq {
namespace {

constexpr float kNormEpsilon = 1e-5f;
constexpr float* kNoRows = nullptr;

using Site = Noise::Site;

float* Of(const at::Tensor& x) { return x.data_ptr<float>(); }
float* GradientOf(const Weight& weight) { return Of(weight.value.grad()); }

at::Tensor Uninitialised(int64_t rows, int64_t columns) { return at::empty({rows, columns}, at::kFloat); }

// x W^T + b
at::Tensor Apply(const Affine& w, const at::Tensor& x) {
  at::Tensor y = Uninitialised(x.size(0), w.weight.value.size(0));
  w.weight.packed->Forward(Of(x), Of(w.bias.value), x.size(0), Of(y));
  return y;
}

// d W
at::Tensor ApplyBackward(const Affine& w, const at::Tensor& d) {
  at::Tensor dx = Uninitialised(d.size(0), w.weight.value.size(1));
  w.weight.packed->Backward(Of(d), d.size(0), Of(dx));
  return dx;
}

// dx += d W
void ApplyBackwardAdd(const Affine& w, const at::Tensor& d, const at::Tensor& dx) {
  w.weight.packed->BackwardAdd(Of(d), d.size(0), Of(dx));
}

// Adds the gradients of weight and bias; d is the derivative at Apply(w, x).
void AddGradients(const Affine& w, const at::Tensor& d, const at::Tensor& x) {
  AddWeightGradient(Of(d), d.size(1), Of(x), x.size(1), d.size(0), GradientOf(w.weight));
  nn::AddRows(Of(d), d.size(0), d.size(1), GradientOf(w.bias));
}

void NormBackward(const Affine& norm, const at::Tensor& hat, const at::Tensor& scales, const at::Tensor& d) {
  nn::LayerNormBackward(Of(hat), Of(scales), Of(norm.weight.value), d.size(0), d.size(1), Of(d), GradientOf(norm.weight),
                        GradientOf(norm.bias));
}

// x [rows, n] of texts, in place.
void DropInPlace(const at::Tensor& x, const PackedTexts& texts, double p, const Noise::Stream& noise, Site site) {
  if (!noise.Drops(p)) return;
  const int64_t n = x.size(1);
  for (int64_t text = 0; text < texts.size(); ++text) {
    const int64_t begin = texts.begins[static_cast<size_t>(text)], end = texts.begins[static_cast<size_t>(text) + 1];
    for (int64_t row = begin; row < end; ++row) noise.DropRow(Of(x) + row * n, n, p, site, text, row - begin);
  }
}

// The derivative for a sum's dropped branch: d itself, or a copy.
at::Tensor Dropped(const at::Tensor& d, const PackedTexts& texts, double p, const Noise::Stream& noise, Site site) {
  if (!noise.Drops(p)) return d;
  at::Tensor copy = d.clone();
  DropInPlace(copy, texts, p, noise, site);
  return copy;
}

AttentionRows OfOne(const at::Tensor& kvq) {
  const int64_t d = kvq.size(1) / 3;
  return {Of(kvq) + 2 * d, Of(kvq), Of(kvq) + d, 3 * d, 3 * d};
}

AttentionRows OfTwo(const at::Tensor& q, const at::Tensor& kv) {
  const int64_t d = q.size(1);
  return {Of(q), Of(kv), Of(kv) + d, d, 2 * d};
}

}  // namespace

Training::Training(const BartConfig& config, const Weights& weights, const Pass& pass, double smoothing)
    : config_(config),
      weights_(weights),
      pass_(pass),
      smoothing_(smoothing),
      embedding_scale_(config.scale_embedding ? std::sqrt(static_cast<double>(config.d_model)) : 1),
      encoder_{weights.encoder, 0, false},
      decoder_{weights.decoder, 1 + weights.encoder.layers.size(), true} {}

double Training::Forward(const std::vector<std::span<const int32_t>>& sources,
                         const std::vector<std::span<const int32_t>>& labels, double divisor) {
  for (const auto& source : sources) {
    if (source.empty()) throw bp::Error(BP_E_INVALID_ARG, "expected a source text with one token or more, got one without");
    encoder_.texts.tokens.insert(encoder_.texts.tokens.end(), source.begin(), source.end());
    encoder_.texts.EndText();
  }
  // A decoder's input is the label moved right behind the start token.
  for (const auto& label : labels) {
    int32_t token = static_cast<int32_t>(config_.decoder_start_token_id);
    for (size_t i = 0; i < label.size(); token = label[i++]) {
      NeedToken(config_, label[i], static_cast<int64_t>(i));
      decoder_.texts.tokens.push_back(token);
      labels_.push_back(label[i]);
    }
    decoder_.texts.EndText();
  }
  memory_ = Run(&encoder_);
  hidden_ = Run(&decoder_);
  return TakeLoss(divisor);
}

void Training::Backward() {
  const Affine& output = weights_.output;
  at::Tensor d = ApplyBackward(output, d_scores_);
  AddWeightGradient(Of(d_scores_), config_.vocab_size, Of(hidden_), config_.d_model, d.size(0), GradientOf(output.weight));
  hidden_.reset(), d_scores_.reset();
  d_memory_ = at::zeros(memory_.sizes(), at::kFloat);
  RunBackward(&decoder_, std::move(d));
  RunBackward(&encoder_, std::exchange(d_memory_, {}));
}

at::Tensor Training::Run(Side* side) const {
  Embed(side);
  at::Tensor x = side->embedded.out;
  for (size_t i = 0; i < side->stack.layers.size(); ++i) {
    LayerState state = RunLayer(*side, i, x);
    x = state.ffn.out;
    if (pass_.recompute) state = {.in = state.in};
    side->layers.push_back(std::move(state));
  }
  return x;
}

void Training::RunBackward(Side* side, at::Tensor d) const {
  for (size_t i = side->layers.size(); i-- > 0; side->layers.pop_back()) {
    LayerState& state = side->layers[i];
    if (pass_.recompute) state = RunLayer(*side, i, state.in);
    d = RunLayerBackward(*side, i, state, std::move(d));
  }
  EmbedBackward(*side, d);
}

void Training::Embed(Side* side) const {
  const int64_t d = config_.d_model;
  const float *words = Of(weights_.output.weight.value), *positions = Of(side->stack.positions);
  const auto scale = static_cast<float>(embedding_scale_);
  const PackedTexts& texts = side->texts;
  at::Tensor sum = Uninitialised(texts.rows(), d);
  for (size_t text = 0; text + 1 < texts.begins.size(); ++text) {
    for (int64_t row = texts.begins[text]; row < texts.begins[text + 1]; ++row) {
      const int64_t token = texts.tokens[static_cast<size_t>(row)], place = row - texts.begins[text];
      NeedToken(config_, token, place);
      const float *word = words + token * d, *position = positions + (place + kPositionOffset) * d;
      for (int64_t i = 0; i < d; ++i) Of(sum)[row * d + i] = word[i] * scale + position[i];
    }
  }
  side->embedded = AddNorm(side->stack.norm, {}, std::move(sum));
  DropInPlace(side->embedded.out, texts, config_.dropout, pass_.noise.Of(side->first_noise), Site::kOut);
}

void Training::EmbedBackward(const Side& side, const at::Tensor& d) const {
  const int64_t n = config_.d_model;
  DropInPlace(d, side.texts, config_.dropout, pass_.noise.Of(side.first_noise), Site::kOut);
  NormBackward(side.stack.norm, side.embedded.hat, side.embedded.scales, d);
  float *words = GradientOf(weights_.output.weight), *positions = Of(side.stack.positions.grad());
  const auto scale = static_cast<float>(embedding_scale_);
  for (size_t text = 0; text + 1 < side.texts.begins.size(); ++text) {
    for (int64_t row = side.texts.begins[text]; row < side.texts.begins[text + 1]; ++row) {
      const int64_t token = side.texts.tokens[static_cast<size_t>(row)], place = row - side.texts.begins[text];
      const float* from = Of(d) + row * n;
      nn::Add(from, n, positions + (place + kPositionOffset) * n);
      if (token == config_.pad_token_id) continue;  // as transformers has it
      for (int64_t i = 0; i < n; ++i) words[token * n + i] += scale * from[i];
    }
  }
}

Training::LayerState Training::RunLayer(const Side& side, size_t i, at::Tensor in) const {
  const Layer& w = side.stack.layers[i];
  const Noise::Stream noise = NoiseOf(side, i);
  const auto out = [&](const Affine& to, const at::Tensor& x, Site site) {
    at::Tensor y = Apply(to, x);
    DropInPlace(y, side.texts, config_.dropout, noise, site);
    return y;
  };
  LayerState s{.in = std::move(in)};
  s.kvq = Apply(w.self.kvq, s.in);
  s.self_mixed = at::empty_like(s.in);
  MixTexts(ToItself(side, i), OfOne(s.kvq), Of(s.self_mixed));
  s.self = AddNorm(w.self.norm, s.in, out(w.self.out, s.self_mixed, Site::kSelf));
  if (side.decodes) {
    s.q = Apply(w.cross.q, s.self.out), s.kv = Apply(w.cross.kv, memory_);
    s.cross_mixed = at::empty_like(s.in);
    MixTexts(ToMemory(i), OfTwo(s.q, s.kv), Of(s.cross_mixed));
    s.cross = AddNorm(w.cross.norm, s.self.out, out(w.cross.out, s.cross_mixed, Site::kCross));
  }
  s.slope = Apply(w.fc1, s.mid());
  s.wide = at::empty_like(s.slope);
  nn::GeluAndSlope(Of(s.slope), s.slope.numel(), Of(s.wide));
  for (const at::Tensor& each : {s.slope, s.wide})
    DropInPlace(each, side.texts, config_.activation_dropout, noise, Site::kWide);
  s.ffn = AddNorm(w.norm, s.mid(), out(w.fc2, s.wide, Site::kOut));
  return s;
}

at::Tensor Training::RunLayerBackward(const Side& side, size_t i, const LayerState& s, at::Tensor d) const {
  const Layer& w = side.stack.layers[i];
  const Noise::Stream noise = NoiseOf(side, i);
  // From the derivative at a sum to the derivative at its branch's input.
  const auto out_backward = [&](const Affine& out, const at::Tensor& mixed, Site site) {
    const at::Tensor branch = Dropped(d, side.texts, config_.dropout, noise, site);
    AddGradients(out, branch, mixed);
    return ApplyBackward(out, branch);
  };
  NormBackward(w.norm, s.ffn.hat, s.ffn.scales, d);
  {
    const at::Tensor wide = out_backward(w.fc2, s.wide, Site::kOut);
    nn::MultiplyBy(Of(s.slope), wide.numel(), Of(wide));
    AddGradients(w.fc1, wide, s.mid());
    ApplyBackwardAdd(w.fc1, wide, d);
  }
  if (side.decodes) {
    NormBackward(w.cross.norm, s.cross.hat, s.cross.scales, d);
    const at::Tensor mixed = out_backward(w.cross.out, s.cross_mixed, Site::kCross);
    const at::Tensor dq = at::empty_like(s.q), dkv = at::empty_like(s.kv);
    MixTextsBackward(ToMemory(i), OfTwo(s.q, s.kv), Of(mixed), OfTwo(dq, dkv));
    AddGradients(w.cross.q, dq, s.self.out), AddGradients(w.cross.kv, dkv, memory_);
    ApplyBackwardAdd(w.cross.q, dq, d), ApplyBackwardAdd(w.cross.kv, dkv, d_memory_);
  }
  NormBackward(w.self.norm, s.self.hat, s.self.scales, d);
  const at::Tensor mixed = out_backward(w.self.out, s.self_mixed, Site::kSelf), dkvq = at::empty_like(s.kvq);
  MixTextsBackward(ToItself(side, i), OfOne(s.kvq), Of(mixed), OfOne(dkvq));
  AddGradients(w.self.kvq, dkvq, s.in);
  ApplyBackwardAdd(w.self.kvq, dkvq, d);
  return d;
}

Training::Normed Training::AddNorm(const Affine& norm, const at::Tensor& x, at::Tensor y) const {
  const int64_t rows = y.size(0), d = y.size(1);
  Normed s{std::move(y), at::empty({rows}, at::kFloat), Uninitialised(rows, d)};
  nn::AddLayerNorm(x.defined() ? Of(x) : kNoRows, Of(norm.weight.value), Of(norm.bias.value), kNormEpsilon, rows, d, Of(s.hat),
                   Of(s.scales), Of(s.out));
  return s;
}

TextAttention Training::ToItself(const Side& side, size_t layer) const {
  const std::vector<int64_t>& begins = side.texts.begins;
  return {begins,
          begins,
          side.stack.heads,
          config_.d_model / side.stack.heads,
          side.decodes,
          config_.attention_dropout,
          NoiseOf(side, layer),
          Site::kSelfShares};
}

TextAttention Training::ToMemory(size_t layer) const {
  const int64_t heads = decoder_.stack.heads;
  return {decoder_.texts.begins,    encoder_.texts.begins, heads, config_.d_model / heads, false, config_.attention_dropout,
          NoiseOf(decoder_, layer), Site::kCrossShares};
}

// Replaces the scores by their derivatives, because they are the largest tensor.
double Training::TakeLoss(double divisor) {
  d_scores_ = Apply(weights_.output, hidden_);
  const int64_t n = config_.vocab_size;
  const double spread = smoothing_ / static_cast<double>(n);
  double loss = 0;
  for (size_t i = 0; i < labels_.size(); ++i) {
    float* row = Of(d_scores_) + static_cast<int64_t>(i) * n;
    const double own = row[labels_[i]];
    double all = 0;
    for (int64_t k = 0; smoothing_ > 0 && k < n; ++k) all += row[k];
    loss += nn::ScaledSoftmax(n, static_cast<float>(1 / divisor), row) - (1 - smoothing_) * own - spread * all;
    for (int64_t k = 0; smoothing_ > 0 && k < n; ++k) row[k] -= static_cast<float>(spread / divisor);
    row[labels_[i]] -= static_cast<float>((1 - smoothing_) / divisor);
  }
  return loss / divisor;
}

}  // namespace backplane::seq2seq
