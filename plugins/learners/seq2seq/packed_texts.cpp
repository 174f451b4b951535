#include "packed_texts.hpp"

#include <string>

#include "backplane/plugin.hpp"

namespace backplane::seq2seq {

void NeedToken(const BartConfig& config, int64_t token, int64_t position) {
  if (token < 0 || token >= config.vocab_size || position >= config.max_position_embeddings)
    throw bp::Error(BP_E_INVALID_ARG, "token " + std::to_string(token) + " at position " + std::to_string(position) +
                                          ": the network has " + std::to_string(config.vocab_size) + " tokens and " +
                                          std::to_string(config.max_position_embeddings) + " positions");
}

}  // namespace backplane::seq2seq
