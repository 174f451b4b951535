// Excludes tokens before the best is chosen.
#pragma once

#include <span>

#include "bart_config.hpp"
#include "generate_options.hpp"

namespace backplane::seq2seq {

// `so_far`: the tokens of one text, with the start token. Sets `scores` [vocab_size] of forbidden tokens to minus infinity; a
// forced token gets 0 and all others minus infinity.
void Process(const BartConfig& config, const GenerateOptions& options, std::span<const int64_t> so_far,
             std::span<float> scores);

}  // namespace backplane::seq2seq
