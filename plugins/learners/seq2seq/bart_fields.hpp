// Numbers of a BartConfig by their names in config.json; options of the learner have the same names.
#pragma once

#include <span>

#include "bart_config.hpp"

namespace backplane::seq2seq {

struct IntegerField {
  const char* name;
  int64_t BartConfig::*at;
  int64_t alone = 0;  // default for a model trained from scratch
};
inline constexpr IntegerField kSizes[] = {{"vocab_size", &BartConfig::vocab_size},
                                          {"max_position_embeddings", &BartConfig::max_position_embeddings},
                                          {"d_model", &BartConfig::d_model, 256},
                                          {"encoder_layers", &BartConfig::encoder_layers, 3},
                                          {"decoder_layers", &BartConfig::decoder_layers, 3},
                                          {"encoder_attention_heads", &BartConfig::encoder_attention_heads, 4},
                                          {"decoder_attention_heads", &BartConfig::decoder_attention_heads, 4},
                                          {"encoder_ffn_dim", &BartConfig::encoder_ffn_dim, 1024},
                                          {"decoder_ffn_dim", &BartConfig::decoder_ffn_dim, 1024}};
inline constexpr auto kOptionalSizes = std::span(kSizes).subspan<1>();  // options of the same names set them; 0: not set
inline constexpr auto kLayerSizes = std::span(kSizes).subspan<2>();     // the other sizes depend on the texts

struct ShareField {
  const char* name;
  double BartConfig::*at;
  double alone = 0;  // likewise
};
inline constexpr ShareField kShares[] = {{"init_std", &BartConfig::init_std},
                                         {"dropout", &BartConfig::dropout, .1},
                                         {"attention_dropout", &BartConfig::attention_dropout},
                                         {"activation_dropout", &BartConfig::activation_dropout}};
inline constexpr auto kDropouts = std::span(kShares).subspan<1>();

}  // namespace backplane::seq2seq
