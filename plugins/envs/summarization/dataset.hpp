// All pairs of a file, tokenised once, in memory.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "records.hpp"
#include "vocabulary.hpp"

namespace backplane::summarization {

// A text's tokens, bos and eos among them, at most `max` of them.
struct Caps {
  int64_t source = 0, target = 0;
};

class Dataset {
 public:
  // Throws bp::Error (BP_E_CONFIG) for a file that ReadRecords refuses or that has no rows.
  Dataset(const std::string& path, const ReadOptions& options, const Vocabulary& vocabulary, Caps caps);

  uint64_t size() const { return reference_begin_.size() - 1; }
  std::span<const int32_t> Source(uint64_t item) const { return Tokens(2 * item); }
  // Of the first target; the others are only scored against.
  std::span<const int32_t> Target(uint64_t item) const { return Tokens(2 * item + 1); }
  // All targets, as they stand in the file. Valid as long as this.
  std::span<const std::string_view> References(uint64_t item) const {
    return {references_.data() + reference_begin_[item], reference_begin_[item + 1] - reference_begin_[item]};
  }
  const ReadReport& report() const { return report_; }
  // Differs where the tokens do.
  uint64_t Fingerprint() const;

 private:
  std::span<const int32_t> Tokens(uint64_t text) const {
    return {tokens_.data() + token_begin_[text], token_begin_[text + 1] - token_begin_[text]};
  }

  std::vector<int32_t> tokens_;                  // source and target of item 0, of item 1, ...
  std::vector<uint64_t> token_begin_ = {0};      // [2 size() + 1]
  std::string texts_;                            // all references, end to end
  std::vector<std::string_view> references_;     // into texts_
  std::vector<uint64_t> reference_begin_ = {0};  // [size() + 1]
  ReadReport report_;
};

// The order of an epoch: a function of the seed, every item once. Keeps the last one.
class EpochOrder {
 public:
  explicit EpochOrder(uint64_t items) : items_(items) {}
  // Items in the order of `seed`, [items]; seed 0 is the order of the file. Valid until the next call.
  const std::vector<uint32_t>& Of(uint64_t seed);

 private:
  uint64_t items_, seed_ = 0;
  std::vector<uint32_t> order_;
};

}  // namespace backplane::summarization
