// What a model's folder says about writing texts: the generation_config.json that HuggingFace transformers keeps beside
// config.json.
#pragma once

#include <optional>
#include <string>

#include "bart_config.hpp"
#include "generate_options.hpp"

namespace backplane::seq2seq {

// What the file names; the rest is the learner's default.
struct GenerationConfig {
  std::optional<int64_t> num_beams, max_length, min_length, no_repeat_ngram_size;
  std::optional<double> length_penalty;
  std::optional<EarlyStopping> early_stopping;
  std::string json;  // the whole file, which a saved folder gets too; empty: there is none
};

// Reads FOLDER/generation_config.json where there is one. Its forced tokens then replace those of `config`, and where it names
// none there are none, as transformers takes all of generation from this file. Throws std::runtime_error with a sentence that
// names the file: for values of the wrong type, for token ids that are not config.json's, and for rules of writing that this
// learner does not have.
GenerationConfig ReadGenerationConfig(const std::string& folder, BartConfig* config);

}  // namespace backplane::seq2seq
