// Generation settings in a model's folder: the generation_config.json that HuggingFace transformers stores next to config.json.
#pragma once

#include <optional>
#include <string>

#include "bart_config.hpp"
#include "generate_options.hpp"

namespace backplane::seq2seq {

// Settings in the file; absent ones have the learner's defaults.
struct GenerationConfig {
  std::optional<int64_t> num_beams, max_length, min_length, no_repeat_ngram_size;
  std::optional<double> length_penalty;
  std::optional<EarlyStopping> early_stopping;
  std::string json;  // the whole file, copied to saved folders; empty: none
};

// Reads FOLDER/generation_config.json if it exists. Its forced tokens replace those in `config`; if it names none, there are
// none, because transformers reads all generation settings from this file. Throws std::runtime_error with the file name for
// values of the wrong type, token ids that contradict config.json, and unsupported generation rules.
GenerationConfig ReadGenerationConfig(const std::string& folder, BartConfig* config);

}  // namespace backplane::seq2seq
