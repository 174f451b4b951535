// All pairs of a file, tokenised once and kept in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model_tokenizer.hpp"
#include "records.hpp"
#include "vocabulary.hpp"

namespace backplane::summarization {

class Dataset {
 public:
  // Throws bp::Error (BP_E_CONFIG) if ReadRecords rejects the file or it has no rows.
  Dataset(const std::string& path, const ReadOptions& options, const Vocabulary& vocabulary, Caps caps);
  // `tokenizer` must outlive it, because it has the tokens.
  Dataset(const std::string& path, const ReadOptions& options, ModelTokenizer* tokenizer);

  uint64_t size() const { return reference_begin_.size() - 1; }
  std::span<const int32_t> Source(uint64_t item) const { return Tokens(2 * item); }
  // The first target; the others are only used for scores.
  std::span<const int32_t> Target(uint64_t item) const { return Tokens(2 * item + 1); }
  // All targets, in the order of the file. Valid as long as this object.
  std::span<const std::string_view> References(uint64_t item) const {
    return {references_.data() + reference_begin_[item], reference_begin_[item + 1] - reference_begin_[item]};
  }
  const ReadReport& report() const { return report_; }
  uint64_t tokens() const { return tokens_.size(); }
  uint64_t unknown_tokens() const { return unknown_tokens_; }  // of a model's tokenizer
  // Differs if the tokens differ.
  uint64_t Fingerprint() const;

 private:
  void Read(const std::string& path, const ReadOptions& options, const std::function<void(const Record&)>& encode);
  std::span<const int32_t> Tokens(uint64_t text) const {
    return tokens_.subspan(token_begin_[text], token_begin_[text + 1] - token_begin_[text]);
  }

  std::span<const int32_t> tokens_;              // source and target of item 0, of item 1, ...
  std::vector<int32_t> own_tokens_;              // of a vocabulary
  std::vector<uint64_t> token_begin_ = {0};      // [2 size() + 1]
  std::string texts_;                            // all references, concatenated
  std::vector<std::string_view> references_;     // into texts_
  std::vector<uint64_t> reference_begin_ = {0};  // [size() + 1]
  ReadReport report_;
  uint64_t unknown_tokens_ = 0;
};

// The order of an epoch: a permutation determined by the seed. Caches the last one.
class EpochOrder {
 public:
  explicit EpochOrder(uint64_t items) : items_(items) {}
  // Item numbers in the order of `seed`, [items]; seed 0 is the order of the file. Valid until the next call.
  const std::vector<uint32_t>& Of(uint64_t seed);

 private:
  uint64_t items_, seed_ = 0;
  std::vector<uint32_t> order_;
};

}  // namespace backplane::summarization
