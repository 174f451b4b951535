// Sizes and token ids of a BART model, by the names of HuggingFace's config.json.
#pragma once

#include <cstdint>
#include <string>

namespace backplane::seq2seq {

struct BartConfig {
  int64_t vocab_size = 50265, d_model = 768, max_position_embeddings = 1024;
  int64_t encoder_layers = 6, decoder_layers = 6, encoder_attention_heads = 12, decoder_attention_heads = 12;
  int64_t encoder_ffn_dim = 3072, decoder_ffn_dim = 3072;
  double dropout = .1, attention_dropout = 0, activation_dropout = 0, init_std = .02;
  bool scale_embedding = false;
  bool is_mbart = false;  // model_type mbart: LayerNorms before each part and after each stack; labels end with the start token
  int64_t bos_token_id = 0, pad_token_id = 1, eos_token_id = 2, decoder_start_token_id = 2;
  int64_t forced_bos_token_id = -1, forced_eos_token_id = 2;  // -1: none
  std::string json = "{}";                                    // other fields of the file, preserved on writing

  // Throws std::runtime_error if the numbers are inconsistent.
  void CheckSizes() const;
};

// Both throw std::runtime_error with the file name. Model families other than BART and mBART are rejected.
BartConfig ReadConfig(const std::string& path);
// Writes the whole file or nothing, for float32 tensors. WriteText does the same for any text.
void WriteConfig(const std::string& path, const BartConfig& config);
void WriteText(const std::string& path, const std::string& text);

}  // namespace backplane::seq2seq
