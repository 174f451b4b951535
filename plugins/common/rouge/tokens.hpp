// Converts texts to numbers: equal tokens have equal numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "rouge/scorer.hpp"

namespace backplane::rouge {

using Id = uint32_t;
using Ids = std::span<const Id>;

// The tokens of a text in order, divided into pieces: lines (kGoogle) or parts between dots (kPltrdy).
struct Text {
  void Clear() { tokens.clear(), ends.clear(); }
  Ids piece(size_t i) const {
    const size_t begin = i == 0 ? 0 : ends[i - 1];
    return Ids(tokens).subspan(begin, ends[i] - begin);
  }

  std::vector<Id> tokens;
  std::vector<size_t> ends;  // of each piece, in tokens
};

// Numbers tokens and remembers their stems. Grows with every new word.
class Vocabulary {
 public:
  Id Find(std::string_view word);
  Id FindStem(std::string_view word);
  size_t bytes() const { return bytes_; }
  const std::string& word(Id id) const { return *words_[id].text; }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  struct Word {
    const std::string* text;  // a key of ids_
    std::optional<Id> stem;
  };

  std::unordered_map<std::string, Id, Hash, std::equal_to<>> ids_;
  std::vector<Word> words_;
  std::string buffer_;
  size_t bytes_ = 0;
};

// Tokenizes texts and divides them into pieces according to the options. Not thread-safe.
class Reader {
 public:
  explicit Reader(const Options& options) : options_(options) {}

  void Read(std::string_view text, Text* out);
  const Vocabulary& vocabulary() const { return vocabulary_; }

 private:
  void ReadLines(std::string_view text, Text* out);
  void ReadGoogle(std::string_view line, std::vector<Id>* out);
  void ReadUnicode(std::string_view line, bool chars, std::vector<Id>* out);
  void ReadPieces(std::string_view text, Text* out);
  void Join(std::string_view text);

  Options options_;
  Vocabulary vocabulary_;
  Text unjoined_;
  std::string word_, joined_;
};

}  // namespace backplane::rouge
