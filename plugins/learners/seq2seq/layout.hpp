// Where each parameter of a model lies in one flat buffer of float32, under HuggingFace's names.
#pragma once

#include <string>
#include <vector>

#include "bart_config.hpp"

namespace backplane::seq2seq {

// Rows of a table of positions before that of position 0, as in HuggingFace's BartLearnedPositionalEmbedding.
inline constexpr int64_t kPositionOffset = 2;

struct Parameter {
  std::string name;
  std::vector<int64_t> shape;
  int64_t offset, size;
};

// Those with weight decay come first (as in HuggingFace's Trainer: all but biases and LayerNorms), then those without, then
// final_logits_bias, which is not trained.
class Layout {
 public:
  explicit Layout(const BartConfig& config);
  const std::vector<Parameter>& parameters() const { return parameters_; }
  // The parameter of that name; throws std::out_of_range.
  const Parameter& at(const std::string& name) const;
  // Parameters that lie one behind the other, as one of all their rows; throws std::logic_error where they do not.
  Parameter Joined(const std::vector<std::string>& names) const;
  int64_t decayed() const { return decayed_; }
  int64_t trained() const { return trained_; }
  int64_t size() const { return size_; }

 private:
  std::vector<Parameter> parameters_;
  int64_t decayed_ = 0, trained_ = 0, size_ = 0;
};

}  // namespace backplane::seq2seq
