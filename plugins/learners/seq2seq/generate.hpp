// Texts from a trained network: greedy or beam search, by the rules and names of HuggingFace transformers 5
// (generation/utils.py, generation/logits_process.py).
#pragma once

#include "bart.hpp"
#include "generate_options.hpp"
#include "inference.hpp"

namespace backplane::seq2seq {

struct Generated {
  std::vector<int64_t> ids;  // with the start token, up to the end token or max_length
  double score = 0;          // of beam search: sum of log probabilities / generated tokens^length_penalty
};

// The best text for each source. ids [B, S], lengths [B]. Does not record gradients. Without `cache` every step runs the
// decoder over all previous tokens: the same ids, for tests. Throws bp::Error (BP_E_NUMERIC) if scores are not finite.
std::vector<Generated> Generate(const BartConfig& config, const Weights& weights, const at::Tensor& ids,
                                const at::Tensor& lengths, const GenerateOptions& options, bool cache = true);
// The same on a processor, without padding: the ids of a source do not depend on the others.
std::vector<Generated> Generate(const BartConfig& config, const Inference& network, std::span<const Inference::Source> sources,
                                const GenerateOptions& options);

}  // namespace backplane::seq2seq
