// Interface of a network for text generation: scores of the next token, for texts that grow by one token per step.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace backplane::seq2seq {

class Scorer {
 public:
  virtual ~Scorer() = default;

  // texts: all of one length, adjacent for each source; returns [texts, vocab_size], float32 on the CPU, writable and valid
  // until the next call.
  virtual at::Tensor Next(const std::vector<const std::vector<int64_t>*>& texts) = 0;

  // Text i continues the former text from[i]; missing texts are done. `sources_changed`: more changed than the order of beams
  // within a source.
  virtual void Reorder(const std::vector<int64_t>& from, bool sources_changed) = 0;
};

}  // namespace backplane::seq2seq
