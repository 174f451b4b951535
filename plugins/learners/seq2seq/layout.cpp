#include "layout.hpp"

#include <algorithm>
#include <stdexcept>

namespace backplane::seq2seq {
namespace {

class Namer {
 public:
  explicit Namer(const BartConfig& c) : c_(c) {
    Add("model.shared.weight", {c.vocab_size, c.d_model});
    for (const bool decoder : {false, true}) {
      const std::string side = decoder ? "model.decoder." : "model.encoder.";
      Add(side + "embed_positions.weight", {c.max_position_embeddings + kPositionOffset, c.d_model});
      Norm(side + "layernorm_embedding");
      for (int64_t i = 0; i < (decoder ? c.decoder_layers : c.encoder_layers); ++i) {
        Layer(side + "layers." + std::to_string(i) + ".", decoder);
      }
      if (c.is_mbart) Norm(side + "layer_norm");
    }
  }
  std::vector<Parameter> named;

 private:
  void Add(std::string name, std::vector<int64_t> shape) {
    int64_t size = 1;
    for (const int64_t n : shape) size *= n;
    named.push_back({std::move(name), std::move(shape), 0, size});
  }
  void Norm(const std::string& name) { Add(name + ".weight", {c_.d_model}), Add(name + ".bias", {c_.d_model}); }
  void Linear(const std::string& name, int64_t out, int64_t in) {
    Add(name + ".weight", {out, in}), Add(name + ".bias", {out});
  }
  void Attention(const std::string& name) {
    // Joined() needs the first three side by side.
    for (const char* part : {"k", "v", "q", "out"}) Linear(name + "." + part + "_proj", c_.d_model, c_.d_model);
    Norm(name + "_layer_norm");
  }
  void Layer(const std::string& name, bool decoder) {
    const int64_t ffn = decoder ? c_.decoder_ffn_dim : c_.encoder_ffn_dim;
    Attention(name + "self_attn");
    if (decoder) Attention(name + "encoder_attn");
    Linear(name + "fc1", ffn, c_.d_model), Linear(name + "fc2", c_.d_model, ffn);
    Norm(name + "final_layer_norm");
  }
  const BartConfig& c_;
};

bool IsDecayed(const Parameter& parameter) { return parameter.shape.size() == 2; }

}  // namespace

Layout::Layout(const BartConfig& config) : parameters_(Namer(config).named) {
  const auto plain = std::stable_partition(parameters_.begin(), parameters_.end(), IsDecayed) - parameters_.begin();
  parameters_.push_back({"final_logits_bias", {1, config.vocab_size}, 0, config.vocab_size});
  for (size_t i = 0; i < parameters_.size(); ++i) {
    if (i == static_cast<size_t>(plain)) decayed_ = size_;
    trained_ = size_;  // before the last one
    parameters_[i].offset = size_;
    size_ += parameters_[i].size;
  }
}

const Parameter& Layout::at(const std::string& name) const {
  for (const Parameter& parameter : parameters_) {
    if (parameter.name == name) return parameter;
  }
  throw std::out_of_range("the model has no parameter '" + name + "'");
}

Parameter Layout::Joined(const std::vector<std::string>& names) const {
  Parameter joined = at(names.front());
  for (size_t i = 1; i < names.size(); ++i) {
    const Parameter& next = at(names[i]);
    if (next.offset != joined.offset + joined.size) throw std::logic_error(next.name + " does not follow " + joined.name);
    joined.name += "+" + next.name, joined.shape[0] += next.shape[0], joined.size += next.size;
  }
  return joined;
}

}  // namespace backplane::seq2seq
