// A model folder of HuggingFace: config.json and model.safetensors.
#pragma once

#include <string>

#include "layout.hpp"

namespace backplane::seq2seq {

// Reads the weights into out [layout.size()]. Tensors may be F32, F16, BF16 or F64. Tied ones are optional, but must equal the
// shared embedding; final_logits_bias defaults to 0. Throws std::runtime_error with a reason.
void ReadWeights(const std::string& folder, const Layout& layout, float* out);

// Creates the folder and writes the weights, then the config, then `generation` as generation_config.json if it is not empty,
// each file whole or not at all. `weights` [layout.size()].
void SavePretrained(const std::string& folder, const BartConfig& config, const Layout& layout, const float* weights,
                    const std::string& generation = "");

// For training from scratch: normal(0, init_std), biases 0, LayerNorms 1, the embedding of the padding token 0.
void InitWeights(const BartConfig& config, const Layout& layout, uint64_t seed, float* out);

}  // namespace backplane::seq2seq
