#include <algorithm>
#include <cmath>
#include <utility>

#include "inference.hpp"
#include "nn/rowwise.hpp"
#include "nn/vectors.hpp"

namespace backplane::seq2seq {

Inference::Decoding::Decoding(const Inference& network, std::span<const Source> encoded, std::vector<int64_t> sources)
    : network_(network), encoded_(encoded), source_of_(std::move(sources)), past_(source_of_.size()) {}

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
  Mixer mixer;
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
    for (size_t begin = 0, end; begin < source_of_.size(); begin = end) {
      for (end = begin + 1; end < source_of_.size() && source_of_[end] == source_of_[begin];) ++end;
      net.AttendToSource(encoded_[static_cast<size_t>(source_of_[begin])], l, static_cast<int64_t>(begin),
                         static_cast<int64_t>(end), q, &mixer, &mixed);
    }
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

}  // namespace backplane::seq2seq
