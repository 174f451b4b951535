// What a search for texts asks of a network: the scores of the next token, for texts that grow by one token a step.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace backplane::seq2seq {

class Scorer {
 public:
  virtual ~Scorer() = default;

  // texts: all of one length, those of a source side by side; returns [texts, vocab_size], float32 on the CPU, which may be
  // written and is valid until the next call.
  virtual at::Tensor Next(const std::vector<const std::vector<int64_t>*>& texts) = 0;

  // Text i goes on as what text from[i] was; fewer texts than before: the others are done. `sources_changed`: not only the
  // order among the beams of a source.
  virtual void Reorder(const std::vector<int64_t>& from, bool sources_changed) = 0;
};

}  // namespace backplane::seq2seq
