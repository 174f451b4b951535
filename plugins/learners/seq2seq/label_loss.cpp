#include <algorithm>
#include <cmath>
#include <numeric>

#include "inference.hpp"
#include "nn/rowwise.hpp"
#include "packed_texts.hpp"

namespace backplane::seq2seq {
namespace {

constexpr int64_t kRowsAtOnce = 16;  // of scores [rows, vocab_size], so that they stay in the cache

}  // namespace

// As in training, a decoder's input is the label moved right behind the start token.
std::vector<double> Inference::LabelLosses(const std::vector<const Source*>& sources,
                                           const std::vector<std::span<const int32_t>>& labels) const {
  const int64_t d = config_.d_model;
  std::vector<int64_t> begins = {0};
  std::vector<int32_t> tokens;
  for (const auto& label : labels) {
    tokens.insert(tokens.end(), label.begin(), label.end());
    begins.push_back(static_cast<int64_t>(tokens.size()));
  }
  const int64_t rows = begins.back();
  const auto size = static_cast<size_t>(rows * d);
  Values x(size), kvq(3 * size), mixed(size), q(size);
  for (size_t text = 0; text < labels.size(); ++text) {
    int64_t token = config_.decoder_start_token_id;
    for (size_t i = 0; i < labels[text].size(); token = labels[text][i++]) {
      const auto position = static_cast<int64_t>(i);
      NeedToken(config_, labels[text][i], position);
      Embed(decoder_, token, position, x.data() + (begins[text] + position) * d);
    }
  }
  Mixer mixer;
  for (size_t l = 0; l < decoder_.layers.size(); ++l) {
    const Layer& layer = decoder_.layers[l];
    nn::Multiply(x.data(), layer.self.kvq.weight, layer.self.kvq.bias, rows, kvq.data());
    AttendToTexts(decoder_, begins, true, kvq, &mixed);
    AddAttention(layer.self, mixed, rows, &x);
    nn::Multiply(x.data(), layer.cross.q.weight, layer.cross.q.bias, rows, q.data());
    for (size_t text = 0; text < labels.size(); ++text)
      AttendToSource(*sources[text], l, begins[text], begins[text + 1], q, &mixer, &mixed);
    AddAttention(layer.cross, mixed, rows, &x);
    FeedForward(layer, rows, &x);
  }
  const std::vector<double> of_tokens = TokenLosses(x, tokens);
  std::vector<double> losses;
  for (size_t text = 0; text < labels.size(); ++text)
    losses.push_back(std::accumulate(of_tokens.begin() + begins[text], of_tokens.begin() + begins[text + 1], 0.0));
  return losses;
}

std::vector<double> Inference::TokenLosses(const Values& x, const std::vector<int32_t>& tokens) const {
  const int64_t vocabulary = config_.vocab_size, rows = static_cast<int64_t>(tokens.size());
  std::vector<double> losses(tokens.size());
  Values scores(static_cast<size_t>(std::min(rows, kRowsAtOnce) * vocabulary));
  for (int64_t begin = 0; begin < rows; begin += kRowsAtOnce) {
    const int64_t n = std::min(rows - begin, kRowsAtOnce);
    nn::Multiply(x.data() + begin * config_.d_model, output_.weight, output_.bias, n, scores.data());
    for (int64_t i = 0; i < n; ++i) {
      float* row = scores.data() + i * vocabulary;
      const double own = row[tokens[static_cast<size_t>(begin + i)]];
      losses[static_cast<size_t>(begin + i)] = nn::LogSumExp(vocabulary, row) - own;
    }
  }
  return losses;
}

}  // namespace backplane::seq2seq
