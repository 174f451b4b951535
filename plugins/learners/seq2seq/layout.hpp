// The layout of a model's parameters in one flat buffer of float32, with HuggingFace's names.
#pragma once

#include <string>
#include <vector>

#include "bart_config.hpp"

namespace backplane::seq2seq {

// Rows of a position table before position 0, as in HuggingFace's BartLearnedPositionalEmbedding.
inline constexpr int64_t kPositionOffset = 2;

struct Parameter {
  std::string name;
  std::vector<int64_t> shape;
  int64_t offset, size;
};

// First the parameters with weight decay (as in HuggingFace's Trainer: all but biases and LayerNorms), then the others, then
// final_logits_bias, which is not trained.
class Layout {
 public:
  explicit Layout(const BartConfig& config);
  const std::vector<Parameter>& parameters() const { return parameters_; }
  // The parameter of that name; throws std::out_of_range.
  const Parameter& at(const std::string& name) const;
  // Joins consecutive parameters into one with all their rows; throws std::logic_error if they are not consecutive.
  Parameter Joined(const std::vector<std::string>& names) const;
  int64_t decayed() const { return decayed_; }
  int64_t trained() const { return trained_; }
  int64_t size() const { return size_; }

 private:
  std::vector<Parameter> parameters_;
  int64_t decayed_ = 0, trained_ = 0, size_ = 0;
};

}  // namespace backplane::seq2seq
