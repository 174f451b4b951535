// Texts to token ids and back, by a SentencePiece model.
#pragma once

#include <sentencepiece_processor.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace backplane::summarization {

// Any number of threads may encode and decode at a time.
class Vocabulary {
 public:
  // Throws bp::Error (BP_E_CONFIG) for a file that is no model, or whose model lacks </s> or <pad>.
  explicit Vocabulary(const std::string& path);

  int32_t size() const { return size_; }
  int32_t bos() const { return bos_; }  // -1: texts have no bos
  int32_t eos() const { return eos_; }
  int32_t pad() const { return pad_; }

  // Appends bos if there is one, as many pieces of the text as fit into max_length, and eos. Returns the number of pieces in
  // the whole text.
  uint64_t Encode(std::string_view text, int64_t max_length, std::vector<int32_t>* out) const;
  // Skips control pieces; the unknown piece becomes " ⁇ ". Every id must be in 0 .. size() - 1.
  std::string Decode(std::span<const int32_t> ids) const;

 private:
  sentencepiece::SentencePieceProcessor processor_;
  int32_t size_, bos_, eos_, pad_;
};

}  // namespace backplane::summarization
