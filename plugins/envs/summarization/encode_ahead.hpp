// Tokens of a file's texts, encoded by several threads before the first update (decision 74).
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "records.hpp"
#include "vocabulary.hpp"

namespace backplane::summarization {

// The texts of a row that are encoded.
enum class Part { kSource, kTarget };

class EncodedAhead {
 public:
  // Encodes with `options.workers` threads, which have ended when it returns; 0: encodes nothing. Throws like ReadRecords and
  // Vocabulary::Encode.
  EncodedAhead(const std::string& path, const ReadOptions& options, const Vocabulary& vocabulary, int64_t source_cap,
               int64_t target_cap);

  // Appends the text's tokens. False: the text was not encoded ahead, or has no token.
  bool Append(uint64_t row, Part part, std::vector<int32_t>* tokens) const;

 private:
  struct Text {
    std::string text;             // until it is encoded
    std::vector<int32_t> tokens;  // empty: the text has none
    int64_t cap = 0;
  };

  void Encode(const Vocabulary& vocabulary, uint64_t workers);

  std::vector<Text> texts_;                       // source and first target of each row
  std::unordered_map<uint64_t, uint64_t> place_;  // row -> its source in texts_
};

}  // namespace backplane::summarization
